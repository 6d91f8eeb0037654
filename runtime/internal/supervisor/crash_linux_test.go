package supervisor

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The environment of a supervisor is constant, so what a test wants of it lies
// in the session's directory: the name of a point in the file failpoint.
const failpointFile = "failpoint"

// standInEnv makes the test binary a runtime to be killed: it names the session.
const standInEnv = "SUPERVISOR_TEST_STANDIN"

// armFailpoint makes a supervisor kill itself at the point that its session's
// directory names, once.
func armFailpoint() {
	if len(os.Args) != 2 || os.Args[0] != processName {
		return
	}
	path := os.Args[1] + "/" + failpointFile
	testOnlyFail = func(p point) {
		at, err := os.ReadFile(path)
		if err != nil || string(at) != string(p) {
			return
		}
		_ = os.Remove(path)
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func standIn(dir string) int {
	fmt.Println(dir)
	return 0
}
