package containment

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// attemptArg0 makes the test binary a command of the escape suite.
const attemptArg0 = "murmur-attempt"

func TestMain(m *testing.M) {
	Hook()
	if os.Args[0] == attemptArg0 && len(os.Args) > 1 {
		// A race build's ordinary exit sleeps for a second.
		syscall.Exit(runAttempt(os.Args[1]))
	}
	if len(os.Args) == 2 && os.Args[1] == "euid" {
		fmt.Println("euid", os.Geteuid())
		os.Exit(0)
	}
	os.Exit(m.Run())
}
