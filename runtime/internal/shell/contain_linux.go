package shell

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

// A contained is a command in a sandbox. A nil value is one without.
type contained struct {
	command *containment.Command
	sealed  bool
}

// startContained starts l in a sandbox, with the attributes that it would be
// started with outside.
func startContained(s *containment.Sandbox, l Launch, attr *syscall.ProcAttr) (*contained, error) {
	sealed := s.Profile().Class == containment.Sealed
	if sealed {
		// A descriptor of this process's would lead out of the command's root.
		attr.Dir = l.Dir
	}
	c, err := s.Start(l.Path, l.Args, attr, l.Name)
	if err != nil {
		// What it could not start is said by the caller.
		if inner := errors.Unwrap(err); inner != nil {
			err = inner
		}
		return nil, err
	}
	return &contained{c, sealed}, nil
}

func (c *contained) pid() int {
	if c == nil {
		return 0
	}
	return c.command.PID()
}

// hold lets the leader know what the kernel keeps together with it.
func (c *contained) hold(l *proctree.Leader) {
	if c == nil || c.command.Group() == nil {
		return
	}
	l.Group = func() []int {
		pids, _ := c.command.Group().Members() // none, where it cannot be told
		return pids
	}
}

// forget gives up a command of which nothing lives.
func (c *contained) forget() {
	if c != nil {
		c.command.Finish(0, 0)
	}
}

// killAll ends what a teardown could not end one by one, and returns what lives
// on all the same.
func (c *contained) killAll(survivors []proctree.Proc) []proctree.Proc {
	if c == nil || !c.command.Group().CanKill() || c.command.Group().Kill() != nil {
		return survivors
	}
	ctx, cancel := context.WithTimeout(context.Background(), killPatience)
	defer cancel()
	_ = c.command.Group().Await(ctx)
	return slices.DeleteFunc(survivors, func(p proctree.Proc) bool {
		p.PGID = 0 // It may have changed its group.
		return proctree.Verify(p.Identity) == proctree.Gone
	})
}

// killPatience is how long the kernel may take to end processes.
const killPatience = 2 * time.Second

// finish tells how the command ended, by the sandbox's evidence where there is
// one. Processes that a sealed command left have ended with it.
func (c *contained) finish(end proctree.End) (how containment.End, left []proctree.Proc) {
	if c == nil {
		return plainEnd(end.Status), end.Left
	}
	how = c.command.Finish(end.Status, end.CPU)
	if c.sealed {
		return how, c.killedLate(end.Left)
	}
	return how, end.Left
}

func (c *contained) killedLate(left []proctree.Proc) []proctree.Proc {
	members, _ := c.command.Group().Members()
	return slices.DeleteFunc(left, func(p proctree.Proc) bool { return !slices.Contains(members, p.PID) })
}

func plainEnd(ws syscall.WaitStatus) containment.End {
	if ws.Signaled() {
		return containment.End{Code: 128 + int(ws.Signal()), Signal: unix.SignalName(ws.Signal())}
	}
	return containment.End{Code: ws.ExitStatus()}
}

// outOfReach reports whether the program at path is one that p does not grant.
func outOfReach(p containment.Profile, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && !p.Reaches(real)
}
