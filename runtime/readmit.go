package runtime

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// ErrInterrupted is the cause of a task whose runtime died while the guest had
// it. It had asked for a command, so it is not run again: the completions of its
// commands follow.
var ErrInterrupted = errors.New("the runtime died while the task ran, after it had started a command")

// readmit takes over the tasks that the session resumed from had admitted, and
// those of the sessions that it had resumed from in its turn: a runtime that
// died while it resumed leaves them where they were.
func (s *Session) readmit() error {
	for _, old := range s.lineage() {
		if err := s.readmitFrom(old); err != nil {
			return fmt.Errorf("cannot take over the tasks of session %s: %w", old, err)
		}
	}
	return nil
}

// lineage is the session resumed from and those before it, the oldest first.
func (s *Session) lineage() []string {
	var chain []string
	for f := s.old; ids.Session.Valid(f.ID) && !slices.Contains(chain, f.ID); {
		chain = append(chain, f.ID)
		var err error
		if f, _, err = knownOf(s.rt.state.session(f.ResumedFrom)); err != nil {
			break // It was collected, or there is none.
		}
	}
	slices.Reverse(chain)
	return chain
}

func (s *Session) readmitFrom(old string) error {
	dir := s.rt.state.session(old)
	if old != s.old.ID {
		lock, err := lockSession(dir)
		if errors.Is(err, errRunning) {
			return nil // Somebody else takes its tasks over just now.
		}
		if err != nil {
			return err
		}
		defer lock.release()
	}
	store := &pendingStore{filepath.Join(dir, pendingName)}
	tasks, problems, err := store.list()
	if err != nil {
		return err
	}
	for _, p := range problems {
		fmt.Fprintf(s.operator, "[capsule-runtime] a task was set aside: %v\n", p)
	}
	told := toldTasks(dir, tasks)
	for _, p := range tasks {
		if !told[p.ID].ended {
			if err := s.readmitTask(old, p, told[p.ID]); err != nil {
				return err
			}
		}
		// Only now: a crash in between leaves the task with both, and the next
		// resume finds it here or there.
		store.forget(p.ID)
	}
	return nil
}

// A toldTask is what a session's trace tells of one of its tasks.
type toldTask struct {
	// ended says that the session had an answer to it, and died before it could
	// forget the task.
	ended bool
	// started and seen are when the task began and when it last gave a sign of
	// life; zero where the trace has neither. What its runtime waited for when it
	// died, the trace has as demoted at that moment.
	started, seen int64
	calls         int64
}

func toldTasks(dir string, tasks []pendingTask) map[string]toldTask {
	told := map[string]toldTask{}
	if len(tasks) == 0 {
		return told
	}
	events, _, _ := ReadTrace(filepath.Join(dir, traceName))
	for _, e := range events {
		if e.TaskID != "" {
			told[e.TaskID] = told[e.TaskID].with(e)
		}
	}
	return told
}

func (t toldTask) with(e Event) toldTask {
	switch e.Type {
	case trace.TaskStart:
		t.started = e.Timestamp
	case trace.TaskEnd:
		t.ended = true
	case trace.Shell, trace.ShellDetached:
		t.calls++
	}
	t.seen = max(t.seen, e.Timestamp)
	return t
}

// ran is how long the task ran, as far as is known.
func (t toldTask) ran() time.Duration {
	if t.started == 0 {
		return 0
	}
	return time.Duration(t.seen-t.started) * time.Millisecond
}

func (s *Session) readmitTask(old string, p pendingTask, told toldTask) error {
	t := s.restore(p)
	if p.interrupted() {
		t.calls = told.calls
		if p.ran {
			t.calls = max(1, t.calls)
		}
		return s.interrupt(old, t, told)
	}
	return s.takeOver(t)
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
func (s *Session) interrupt(session string, t *task, told toldTask) error {
	old, err := trace.Open(filepath.Join(s.rt.state.session(session), traceName), session, trace.Options{Sync: true})
	if err != nil {
		return err
	}
	defer old.Close()
	err = old.Append(trace.Event{
		Type: trace.TaskEnd, TaskID: t.id, ExitStatus: trace.StatusInterrupted,
		DurationMS: trace.Int(told.ran().Milliseconds()), ShellCalls: trace.Int(t.calls),
	})
	if err != nil {
		return err
	}
	t.started = time.Now().Add(-told.ran())
	s.account.add(1)
	s.conclude(t, broken(ErrInterrupted))
	t.cancel()
	return nil
}
