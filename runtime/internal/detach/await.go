package detach

import (
	"context"
	"fmt"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// teardownTime bounds the end of a command that could not be demoted: TERM, two
// seconds, KILL, and time to prove it.
const teardownTime = 10 * time.Second

// A Policy says when a command is demoted and what becomes of it then.
type Policy struct {
	// Grace is how long the command may hold its call, counted from its spawn.
	// Zero demotes at once, unless it has already ended.
	Grace time.Duration
	// Background demotes at once, whether it has ended or not: the guest asked
	// to be told later.
	Background bool
	// Registry holds the demoted command.
	Registry *Registry
	// Binary and Command are what reports name.
	Binary, Command string
	// TaskID and ContextID are those of the task that started the command.
	TaskID, ContextID string
	// Provenance is that of the task that started it; nil stands for no task.
	Provenance *provenance.Provenance
	// Abandoned is closed when the caller is gone: its task was cancelled, or
	// the session is ending. Nil stands for never.
	Abandoned <-chan struct{}
	// WriteLog writes the output once the command has ended.
	WriteLog LogWriter
	// Demoting is called with the work before its handle is returned. After an
	// error the command is ended, since nobody could account for it. May be
	// nil.
	Demoting func(Work) error
}

// Await waits for proc: until it ends, its grace is over, or its caller is
// gone. It returns nil if the command ended in the foreground, and else the
// work that it has become, which is registered by then. After an error the
// command was torn down.
//
// Without a policy there is no background: Await waits for the end.
func Await(proc shell.Process, p *Policy) (*Work, error) {
	if p == nil {
		<-proc.Ended()
		return nil, nil
	}
	if !p.Background && p.foreground(proc) {
		return nil, nil
	}
	return p.demote(proc)
}

// foreground waits, and says whether the command ended in time.
func (p *Policy) foreground(proc shell.Process) bool {
	// Started may have been told by another process, whose clock may since
	// have been set: the wait is never longer than the grace.
	left := min(time.Until(proc.Started().Add(p.Grace)), p.Grace)
	if left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case <-proc.Ended():
		case <-p.Abandoned:
		case <-timer.C:
		}
	}
	return ended(proc)
}

func (p *Policy) demote(proc shell.Process) (*Work, error) {
	w := p.work(proc)
	e := newEntry(w, proc, p.WriteLog)
	// Registered first: from here on a sweep finds it, whatever comes next.
	p.Registry.register(e)
	if err := p.announce(w, proc); err != nil {
		p.Registry.forget(e)
		return nil, err
	}
	go p.Registry.watch(e)
	return &w, nil
}

func (p *Policy) work(proc shell.Process) Work {
	grace := p.Grace
	if p.Background {
		grace = 0
	}
	return Work{
		ID: ids.Work.New(), Binary: p.Binary, Command: p.Command,
		TaskID: p.TaskID, ContextID: p.ContextID,
		Provenance: provenance.Caused(provenance.Completion, p.Provenance),
		Grace:      grace, Started: proc.Started(), Detached: time.Now(),
	}
}

// announce makes the demotion durable and known. What fails ends the command.
func (p *Policy) announce(w Work, proc shell.Process) error {
	ctx, cancel := context.WithTimeout(context.Background(), teardownTime)
	defer cancel()
	if durable, ok := proc.(shell.Durable); ok {
		if err := durable.Demote(ctx, shell.Demotion{WorkID: w.ID}); err != nil {
			return fmt.Errorf("cannot move the command to the background: %w", err)
		}
	}
	if p.Demoting == nil {
		return nil
	}
	if err := p.Demoting(w); err != nil {
		err = fmt.Errorf("cannot move the command to the background, it was ended: %w", err)
		if stopErr := proc.Stop(ctx, shell.ReasonKilled); stopErr != nil {
			err = fmt.Errorf("%w; and it could not be proven dead: %v", err, stopErr)
		}
		return err
	}
	return nil
}

// forget takes back a registration whose work never came to be.
func (r *Registry) forget(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds(e) {
		delete(r.outstanding, e.work.ID)
	}
}
