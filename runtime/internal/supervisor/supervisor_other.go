//go:build !linux

package supervisor

import (
	"context"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// Supported says whether commands can be supervised on this system.
const Supported = false

// Hook does nothing here.
func Hook() {}

// Escaping finds nothing to get away from.
func Escaping() Escape { return Escape{Possible: true} }

// Alive is false: there are no supervisors here.
func Alive(string) bool { return false }

// Runner cannot be had on this system.
type Runner struct{}

// Connect fails with ErrUnsupported.
func Connect(context.Context, Options) (*Runner, error) { return nil, ErrUnsupported }

// Takeover fails with ErrNone: no supervisor ever ran here.
func Takeover(context.Context, Options) (*Runner, error) { return nil, ErrNone }

// PID is 0.
func (*Runner) PID() int { return 0 }

// Task fails with ErrUnsupported.
func (*Runner) Task(string) error { return ErrUnsupported }

// Contained fails with ErrUnsupported.
func (*Runner) Contained(context.Context) error { return ErrUnsupported }

// Receipt is nil.
func (*Runner) Receipt() *containment.Receipt { return nil }

// Start fails with ErrUnsupported.
func (*Runner) Start(context.Context, shell.Launch) (shell.Process, error) {
	return nil, ErrUnsupported
}

// Stop fails with ErrUnsupported.
func (*Runner) Stop(context.Context, string, string) error { return ErrUnsupported }

// Close does nothing.
func (*Runner) Close() error { return nil }

// Operator cannot be had on this system.
type Operator struct{}

// Dial fails with ErrNone.
func Dial(string, func()) (*Operator, error) { return nil, ErrNone }

// PID is 0.
func (*Operator) PID() int { return 0 }

// Lost is never closed.
func (*Operator) Lost() <-chan struct{} { return nil }

// List fails with ErrUnsupported.
func (*Operator) List(context.Context) ([]Command, error) { return nil, ErrUnsupported }

// Stop fails with ErrUnsupported.
func (*Operator) Stop(context.Context, string, string) error { return ErrUnsupported }

// Close does nothing.
func (*Operator) Close() error { return nil }

// Host knows no process: where identities cannot be told, nothing is signalled.
type Host struct{}

var _ jobs.Processes = Host{}

// Verify implements [jobs.Processes].
func (Host) Verify(jobs.Identity) jobs.Verdict { return jobs.Unverifiable }

// Members implements [jobs.Processes].
func (Host) Members(jobs.Record) []jobs.Survivor { return nil }

// Teardown implements [jobs.Processes].
func (Host) Teardown(context.Context, jobs.Record) ([]jobs.Survivor, error) {
	return nil, ErrUnsupported
}

// Age implements [jobs.Processes].
func (Host) Age(jobs.Identity) (time.Duration, bool) { return 0, false }
