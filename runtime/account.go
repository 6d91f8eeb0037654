package runtime

import (
	"context"
	"sync"
)

// An account counts what the session still owes an answer to: tasks that were
// submitted, demoted commands until the guest has taken their completion, and
// lost ones until it has taken their report.
type account struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed while n is 0

	counts counts
}

// counts are what session_end tells.
type counts struct{ tasks, failed, detached int64 }

func (a *account) init() {
	a.idle = make(chan struct{})
	close(a.idle)
}

func (a *account) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.n
	a.n += n
	switch {
	case was == 0 && a.n > 0:
		a.idle = make(chan struct{})
	case was > 0 && a.n == 0:
		close(a.idle)
	}
}

// whenIdle is closed when nothing is owed; a later task makes a new channel.
func (a *account) whenIdle() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.idle
}

func (a *account) note(f func(*counts)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.counts)
}

func (a *account) total() counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.counts
}

// WaitIdle waits until no task waits or runs, no command is outstanding and no
// completion is undelivered, or until the session has ended. The error is
// ctx's.
func (s *Session) WaitIdle(ctx context.Context) error {
	select {
	case <-s.account.whenIdle():
		return nil
	case <-s.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
