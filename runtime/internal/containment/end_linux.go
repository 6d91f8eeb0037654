package containment

import (
	"context"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Group is the command's control group; nil where it has none.
func (c *Command) Group() *Group { return c.group }

// Finish tells how the command ended, from the wait status of the process that
// was started and the processor time that it and its children used. It is called
// once, after the command has ended; it removes the command's control group
// unless processes were left running in it.
func (c *Command) Finish(ws syscall.WaitStatus, cpu time.Duration) End {
	ws = c.seal.status(ws)
	end := End{Code: ws.ExitStatus()}
	if ws.Signaled() {
		end.Code = 128 + int(ws.Signal())
		end.Signal = unix.SignalName(ws.Signal())
	}
	end.Limit = c.limit(ws, cpu)
	if c.sandbox.profile.Ward {
		c.endLeftovers()
	}
	c.sandbox.left.discard(c.group)
	return end
}

// endLeftovers ends what a sealed command left running, as the end of its own
// pid namespace would. Processes that the kernel cannot end in a second stay.
func (c *Command) endLeftovers() {
	if members, err := c.group.Members(); err != nil || len(members) == 0 {
		return
	}
	if err := c.group.Kill(); err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.group.Await(ctx)
}

// limit names the limit that ended the command. The kernel's own count comes
// first. A signal that stands for a limit is believed where the command died of
// it; a shell that reports a child's death in its exit code is believed about
// processor time alone, because that was measured.
func (c *Command) limit(ws syscall.WaitStatus, cpu time.Duration) string {
	if l := c.group.limit(); l != "" {
		return l
	}
	// The kernel's limit counts by ticks and the usage by the clock; on a busy
	// machine they differ by a good part, so that half is evidence enough.
	budget := time.Duration(c.sandbox.profile.Limits.CPUSeconds) * time.Second
	spent := 2*cpu >= budget
	switch {
	case ws.Signaled() && ws.Signal() == unix.SIGXFSZ:
		return LimitFileSize
	case ws.Signaled() && ws.Signal() == unix.SIGXCPU && spent:
		return LimitCPU
	case ws.Exited() && ws.ExitStatus() == 128+int(unix.SIGXCPU) && spent:
		return LimitCPU
	case ws.Signaled() && ws.Signal() == unix.SIGKILL && cpu >= budget+4*time.Second:
		return LimitCPU
	}
	return ""
}
