//go:build !linux

package containment

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

type enforcer struct{}

type running struct{}

func (*enforcer) open(p Profile) error {
	if p.Class != Advisory {
		return fmt.Errorf("%s gives class advisory alone", runtime.GOOS)
	}
	return nil
}

// Close releases what the sandbox holds. It ends no command.
func (s *Sandbox) Close() error { return nil }

func (*Sandbox) start(f *fork, _ *Command) error { return f.exec() }

// Group is nil: there are no control groups.
func (c *Command) Group() *Group { return nil }

// Finish tells how the command ended.
func (c *Command) Finish(ws syscall.WaitStatus, _ time.Duration) End {
	if ws.Signaled() {
		return End{Code: 128 + int(ws.Signal()), Signal: ws.Signal().String()}
	}
	return End{Code: ws.ExitStatus()}
}

// A Group is a control group; there is none off Linux.
type Group struct{}

// Hook runs the part of this package that a re-executed process has. Off Linux
// there is none, and it returns at once.
func Hook() {}
