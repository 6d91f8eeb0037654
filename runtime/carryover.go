package runtime

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// carryOver writes into the trace of a session that died what it could not write
// itself: that these commands are carried on. Once their records are gone,
// nothing else says there what became of them.
func (s *Session) carryOver(f sessionFile, works []jobs.Record) error {
	if f.EndedMS != 0 || len(works) == 0 {
		return nil
	}
	open, err := s.unaccounted(f.ID)
	if err != nil {
		return err
	}
	w, err := trace.Open(filepath.Join(s.rt.state.session(f.ID), traceName), f.ID, trace.Options{Sync: true})
	if err != nil {
		return err
	}
	defer w.Close()
	for _, r := range works {
		if !open[r.WorkID] {
			continue
		}
		if err := w.Append(carriedEvent(r)); err != nil {
			return fmt.Errorf("cannot write that %s is carried on: %w", r.WorkID, err)
		}
	}
	return nil
}

// unaccounted are the works that a session's trace, read alone, says nothing of
// after their demotion.
func (s *Session) unaccounted(session string) (map[string]bool, error) {
	found, err := trace.Losses(session, func(id string) (io.ReadCloser, error) {
		if id != session {
			return nil, fs.ErrNotExist
		}
		return s.openTrace(id)
	})
	open := map[string]bool{}
	for _, l := range found {
		for _, loss := range l.Losses {
			open[loss.WorkID] = true
		}
	}
	return open, err
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
