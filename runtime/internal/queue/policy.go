package queue

import (
	"errors"
	"fmt"
)

// An Acceptance says which tasks of outside callers a session takes.
type Acceptance string

// The values of lifecycle.task_acceptance.
const (
	None   Acceptance = "none"   // no task
	Single Acceptance = "single" // one task, ever
	Queued Acceptance = "queue"  // any number, while few enough wait
)

// A Policy admits or refuses the tasks of outside callers.
type Policy struct {
	// Acceptance defaults to Single.
	Acceptance Acceptance
	// Depth is how many outside tasks may wait under Queued; the running one
	// does not count. Defaults to 1.
	Depth int
}

func (p Policy) withDefaults() Policy {
	if p.Acceptance == "" {
		p.Acceptance = Single
	}
	if p.Depth <= 0 {
		p.Depth = 1
	}
	return p
}

// The reasons for a refusal, found in it with errors.Is.
var (
	// ErrNone is the reason of a session that takes no tasks.
	ErrNone = errors.New("the session takes no tasks")
	// ErrSingle is the reason of a session that has had its one task.
	ErrSingle = errors.New("the session takes one task and has had it")
	// ErrFull is the reason of a queue with no room now: a later try may do.
	ErrFull = errors.New("the queue is full")
	// ErrClosed is the reason once the session takes nothing any more, and what
	// Next returns then.
	ErrClosed = errors.New("the queue is closed")
	// ErrNotReport is the reason for a task that wanted to be let in as a
	// completion and is none.
	ErrNotReport = errors.New("only a completion is always admitted")
)

// A Refusal says why a task was not admitted.
type Refusal struct {
	// Reason is one of the errors above.
	Reason error
	// Policy is the one that refused.
	Policy Policy
	// Pending is how many outside tasks waited.
	Pending int
}

// Error names the rule and its numbers.
func (r *Refusal) Error() string {
	switch r.Reason {
	case ErrNone, ErrSingle:
		return fmt.Sprintf("%v (lifecycle.task_acceptance: %s)", r.Reason, r.Policy.Acceptance)
	case ErrFull:
		return fmt.Sprintf("%v: %d waiting, lifecycle.queue_depth is %d", r.Reason, r.Pending, r.Policy.Depth)
	}
	return r.Reason.Error()
}

// Unwrap is the reason.
func (r *Refusal) Unwrap() error { return r.Reason }

// admit says why an outside task may not join, nil if it may.
func (p Policy) admit(pending int, hadOne bool) error {
	switch p.Acceptance {
	case Single:
		if hadOne {
			return ErrSingle
		}
	case Queued:
		if pending >= p.Depth {
			return ErrFull
		}
	default:
		return ErrNone
	}
	return nil
}
