package runtime

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// ErrInterrupted is the cause of a task whose runtime died while the guest had
// it. It had asked for a command, so it is not run again: the completions of its
// commands follow.
var ErrInterrupted = errors.New("the runtime died while the task ran, after it had started a command")

// readmit takes over the tasks that the session resumed from had admitted.
func (s *Session) readmit() error {
	old := &pendingStore{filepath.Join(s.rt.state.session(s.old.ID), pendingName)}
	tasks, problems, err := old.list()
	if err != nil {
		return fmt.Errorf("cannot read the tasks of session %s: %w", s.old.ID, err)
	}
	for _, p := range problems {
		fmt.Fprintf(s.operator, "[capsule-runtime] a task was set aside: %v\n", p)
	}
	for _, p := range tasks {
		t := s.restore(p)
		if p.interrupted() {
			if err := s.interrupt(t); err != nil {
				return err
			}
			old.forget(p.ID)
			continue
		}
		if err := s.takeOver(t); err != nil {
			return err
		}
		// Only now: a crash in between leaves the task with both, and the next
		// resume, of this session, takes it from here.
		old.forget(p.ID)
	}
	return nil
}

// restore makes the task that was written down.
func (s *Session) restore(p pendingTask) *task {
	prov, _ := provenance.Restore(p.Origin, p.Trust) // checked on reading
	t := s.mintTask(Task{Message: p.Message, ContextID: p.ContextID, Source: p.Source}, prov)
	t.id, t.ticket.id = p.ID, p.ID
	t.repeated = p.running || p.Repeated
	return t
}

func (s *Session) takeOver(t *task) error {
	if err := s.pending.save(t); err != nil {
		return err
	}
	s.account.add(1)
	return s.queue.Readmit(t)
}

// interrupt ends a task in the books of its own session.
func (s *Session) interrupt(t *task) error {
	old, err := trace.Open(filepath.Join(s.rt.state.session(s.old.ID), traceName), s.old.ID, trace.Options{Sync: true})
	if err != nil {
		return err
	}
	defer old.Close()
	if err := old.Append(trace.Event{Type: trace.TaskEnd, TaskID: t.id, ExitStatus: trace.StatusInterrupted}); err != nil {
		return err
	}
	t.started = time.Now()
	s.account.add(1)
	s.conclude(t, broken(ErrInterrupted))
	t.cancel()
	return nil
}
