package detach

import (
	"context"
	"errors"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// A Handle stands for one outstanding work. It acts on that work alone, while
// the registry holds it: another of the same id is another work.
type Handle struct {
	registry *Registry
	entry    *entry
}

// ErrNotOutstanding is the error of stopping a work that its session has let go
// of while it ran.
var ErrNotOutstanding = errors.New("the command is no longer this session's")

// Outstanding lists the works that have not been reported, ordered by id.
func (r *Registry) Outstanding() []Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	var handles []Handle
	for _, e := range r.sorted() {
		handles = append(handles, Handle{r, e})
	}
	return handles
}

// Work tells what the handle stands for.
func (h Handle) Work() Work { return h.entry.work }

// Running is how long the command has run, or ran.
func (h Handle) Running() time.Duration { return running(h.entry.proc) }

// Output tells where the command's output is captured, and how much so far.
func (h Handle) Output() shell.Output { return h.entry.proc.Output() }

// Ended is closed once the command has ended.
func (h Handle) Ended() <-chan struct{} { return h.entry.proc.Ended() }

// Stop ends the command's process tree and waits for that. The completion comes
// all the same, with the reason killed. A command that has ended is left as it
// is.
func (h Handle) Stop(ctx context.Context) error {
	if ended(h.entry.proc) {
		return nil
	}
	h.registry.mu.Lock()
	held := h.registry.holds(h.entry)
	h.registry.mu.Unlock()
	if !held {
		return ErrNotOutstanding
	}
	return h.entry.proc.Stop(ctx, shell.ReasonKilled)
}

func ended(p shell.Process) bool {
	select {
	case <-p.Ended():
		return true
	default:
		return false
	}
}

func running(p shell.Process) time.Duration {
	if ended(p) {
		return p.Exit().Duration
	}
	return time.Since(p.Started())
}
