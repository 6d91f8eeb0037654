package shell

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// oomBias is by how much commands are preferred over this process when memory
// runs out, in thousandths of all memory.
const oomBias = 300

// oomScore returns the adjustment that commands get, as the kernel reads it.
func oomScore() string {
	b, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return ""
	}
	own, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return ""
	}
	return strconv.Itoa(min(own+oomBias, 1000))
}

// preferForOOM makes the kernel end pid, a child that has just been started, and
// what it forks from now on rather than this process. It is an attempt: a command
// that has ended already needs it no more.
func preferForOOM(pid int, score string) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	unix.Write(fd, []byte(score))
}
