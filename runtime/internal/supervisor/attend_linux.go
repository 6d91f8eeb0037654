package supervisor

import (
	"net"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
	"github.com/murmur-capsule/murmur/runtime/internal/unixsock"
	"golang.org/x/sys/unix"
)

// lookPeriod is how often a runtime looks whether its supervisor was stopped,
// which nothing tells of: a stopped one answers nobody, ends nothing in time, and
// would keep a call waiting past its grace.
const lookPeriod = 2 * time.Second

// attend lets the connection's supervisor go on whenever something has stopped
// it, until the connection ends.
func (r *Runner) attend(c *client) {
	tick := time.NewTicker(lookPeriod)
	defer tick.Stop()
	for {
		select {
		case <-c.lost:
			return
		case <-tick.C:
			if goOn(c.welcome.PID) {
				r.logf("the supervisor with process id %d had been stopped; it goes on", c.welcome.PID)
			}
		}
	}
}

// peerGoesOn is goOn for the process that listens at the other end.
func peerGoesOn(c net.Conn) {
	_ = unixsock.Control(c, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			goOn(int(cred.Pid))
		}
		return err
	})
}

// goOn continues a stopped process; true if it was one. The connection to it is
// open, so that the number is still its own; and a process that only happened to
// have it would lose nothing by this signal.
func goOn(pid int) bool {
	return pid > 1 && proctree.Stopped(pid) && unix.Kill(pid, unix.SIGCONT) == nil
}
