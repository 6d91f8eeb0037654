package shell

import (
	"fmt"
	"sync/atomic"
)

// DefaultMaxRunning is how many commands of a session may run at a time.
const DefaultMaxRunning = 64

// A BusyError refuses a command because too many run.
type BusyError struct{ Limit int }

func (e *BusyError) Error() string {
	return fmt.Sprintf("too many commands are running: the limit is %d at a time (lifecycle.shell_max_running)", e.Limit)
}

// Slots count the commands that run. They are safe for concurrent use.
type Slots struct {
	limit int64
	taken atomic.Int64
}

// NewSlots returns slots for limit commands.
func NewSlots(limit int) *Slots { return &Slots{limit: int64(limit)} }

// Take takes a slot, or returns a [*BusyError].
func (s *Slots) Take() error {
	if s.taken.Add(1) > s.limit {
		s.taken.Add(-1)
		return &BusyError{int(s.limit)}
	}
	return nil
}

// Release gives a slot back.
func (s *Slots) Release() { s.taken.Add(-1) }
