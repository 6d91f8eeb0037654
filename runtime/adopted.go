package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
)

// An adopted process is a command of an earlier session, known by its record.
type adopted struct {
	src   *source
	ended chan struct{}

	mu     sync.Mutex
	handle jobs.Handle
	done   bool
	// lost says that the record is gone: nothing can be told of the end.
	lost bool
}

var _ shell.Durable = (*adopted)(nil)

func (a *adopted) record() jobs.Record {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.handle.Record()
}

// refresh looks whether the command has ended, and says so if it has.
func (a *adopted) refresh(ctx context.Context) bool {
	a.mu.Lock()
	h := a.handle
	a.mu.Unlock()
	h, err := h.Reconcile(ctx, a.src.pass())
	if err != nil && ctx.Err() == nil {
		// A record that cannot be read is set aside by a listing.
		_, _, _ = a.src.store.List()
		h, err = a.src.store.Get(h.Record().WorkID)
	}
	a.mu.Lock()
	if err == nil {
		a.handle = h
	}
	a.lost = errors.Is(err, jobs.ErrGone)
	a.mu.Unlock()
	return a.settle()
}

// settle ends the process if its record is finished.
func (a *adopted) settle() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.handle.Record().State == jobs.Running && !a.lost {
		return false
	}
	if !a.done {
		a.done = true
		close(a.ended)
	}
	return true
}

// Ended implements [shell.Process].
func (a *adopted) Ended() <-chan struct{} { return a.ended }

// Exit implements [shell.Process].
func (a *adopted) Exit() shell.Exit {
	if o := a.record().Outcome; o != nil {
		return supervisor.ToExit(*o)
	}
	return shell.Exit{Code: -1, Reason: shell.ReasonResultUnavailable}
}

// Started implements [shell.Process].
func (a *adopted) Started() time.Time { return time.UnixMilli(a.record().StartedAt) }

// Output implements [shell.Process].
func (a *adopted) Output() shell.Output {
	o := a.record().Output
	return shell.Output{
		StdoutPath: o.StdoutPath, StderrPath: o.StderrPath,
		StdoutBytes: o.StdoutBytes, StderrBytes: o.StderrBytes, Truncated: o.Truncated,
	}
}

// Stop implements [shell.Process].
func (a *adopted) Stop(ctx context.Context, _ shell.Reason) error {
	a.mu.Lock()
	h := a.handle
	a.mu.Unlock()
	h, err := h.Stop(ctx, a.src.pass())
	if err != nil {
		return fmt.Errorf("cannot stop the command: %w", err)
	}
	a.mu.Lock()
	a.handle = h
	a.mu.Unlock()
	a.settle()
	return nil
}

// Demote implements [shell.Durable]: it was demoted long ago.
func (a *adopted) Demote(context.Context, shell.Demotion) error { return nil }

// Settle implements [shell.Durable]: only a guest that takes the result does.
func (a *adopted) Settle() {}
