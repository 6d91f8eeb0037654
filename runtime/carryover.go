package runtime

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// carryOver writes into the trace of a session that died what it could not write
// itself: that these commands are carried on, and of those that it was waiting
// for, that they went to the background. Once their records are gone, nothing
// else says there what became of them.
func (s *Session) carryOver(f sessionFile, works []jobs.Record) error {
	if f.EndedMS != 0 || len(works) == 0 {
		return nil
	}
	told, err := s.toldOf(f.ID)
	if err != nil {
		return err
	}
	w, err := trace.Open(filepath.Join(s.rt.state.session(f.ID), traceName), f.ID, trace.Options{Sync: true})
	if err != nil {
		return err
	}
	defer w.Close()
	for _, r := range works {
		if told[r.WorkID][trace.ShellCompleted] {
			continue // Its end is there already; the guest did not take it.
		}
		for _, e := range []trace.Event{detachedEvent(r), carriedEvent(r)} {
			if told[r.WorkID][e.Type] {
				continue
			}
			if err := w.Append(e); err != nil {
				return fmt.Errorf("cannot write that %s is carried on: %w", r.WorkID, err)
			}
		}
	}
	return nil
}

// toldOf is what a session's trace has of each work: the types of its events.
func (s *Session) toldOf(session string) (map[string]map[string]bool, error) {
	file, err := s.rt.state.openTrace(session)
	if err != nil {
		return nil, fmt.Errorf("cannot read the trace: %w", err)
	}
	defer file.Close()
	told := map[string]map[string]bool{}
	for line := range trace.Lines(file) {
		if line.Err != nil || line.Event.WorkID == "" {
			continue
		}
		if told[line.Event.WorkID] == nil {
			told[line.Event.WorkID] = map[string]bool{}
		}
		told[line.Event.WorkID][line.Event.Type] = true
	}
	return told, nil
}

// detachedEvent is of the moment at which the command went to the background.
// Where no grace ran out, the command was waited for until then.
func detachedEvent(r jobs.Record) trace.Event {
	return trace.Event{
		Type: trace.ShellDetached, Timestamp: r.DemotedAt, TaskID: r.Task, WorkID: r.WorkID, Binary: r.Binary,
		Command: r.Command, GraceMS: trace.Int(max(0, r.DemotedAt-r.StartedAt)),
	}
}

func carriedEvent(r jobs.Record) trace.Event {
	ran := r.Age(time.Now()).Milliseconds()
	if r.Outcome != nil {
		ran = r.Outcome.DurationMS
	}
	return trace.Event{
		Type: trace.ShellCarried, WorkID: r.WorkID, Binary: r.Binary, Command: r.Command, RunningMS: trace.Int(ran),
	}
}
