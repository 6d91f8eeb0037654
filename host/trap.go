package host

import (
	"errors"
	"fmt"
)

// The errors that end a call from outside the guest.
var (
	// ErrCanceled means that the call's context was cancelled, or its deadline
	// has passed, or that the instance was closed.
	ErrCanceled = errors.New("the guest was cancelled")
	// ErrComputeLimit means that the guest computed longer than it may.
	ErrComputeLimit = errors.New("the guest reached its compute limit")
	// ErrMemoryLimit is what a [TrapError] is if the guest had asked for more
	// memory than it may have before it trapped.
	ErrMemoryLimit = errors.New("the guest reached its memory limit")
	// ErrCompileTimeout means that a guest could not be compiled in time.
	ErrCompileTimeout = errors.New("the guest took too long to compile")
	// ErrClosed means that the engine, guest or instance was closed.
	ErrClosed = errors.New("closed")
)

// A TrapError is a guest's fault that ended its call.
type TrapError struct {
	// Cause says what the guest did, in plain words.
	Cause string
	// Function is where it did so: a name from the guest's name section, or
	// "function 12" if it has none, or "" if the place is not known.
	Function string
	// Stack are the functions that were running, the innermost first.
	Stack []string
	// Err is the error of a plugin that ended the call, if one did.
	Err error

	memoryFull bool
}

// Error is the cause, with the function.
func (e *TrapError) Error() string { panic("not yet") }

// An ExitError means that a guest ended itself where it should have answered.
type ExitError struct{ Code int }

// Error gives the exit code.
func (e *ExitError) Error() string { return fmt.Sprintf("the guest exited with code %d", e.Code) }
