package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Retention is how long a work is kept after the guest took it, unless the
// operator says otherwise.
const Retention = time.Hour

// Collected is what a garbage collection removed.
type Collected struct {
	Works int
	Bytes int64
	Aside []Aside
}

// GC removes the records and captured files of works that were taken longer ago
// than keep. What is still owed, or not proven dead, stays for ever; and so does,
// for as long as it lives, what living says yes to. A nil living says no.
func (s *Store) GC(now time.Time, keep time.Duration, living func(Record) bool) (Collected, error) {
	var c Collected
	handles, aside, err := s.List()
	c.Aside = aside
	errs := []error{err}
	for _, h := range handles {
		if !prunable(h.record, now, keep) || living != nil && living(h.record) {
			continue
		}
		n, err := s.prune(h.record)
		c.Bytes += n
		if err != nil {
			errs = append(errs, fmt.Errorf("cannot remove %s: %w", h.record.WorkID, err))
			continue
		}
		c.Works++
	}
	return c, errors.Join(errs...)
}

func prunable(r Record, now time.Time, keep time.Duration) bool {
	return r.State == Taken && !unproven(r) && now.Sub(time.UnixMilli(r.TakenAt)) > keep
}

// unproven says whether the work was torn down, by whomever, and not proven dead.
// What a command that died left behind was never signalled.
func unproven(r Record) bool {
	return r.Outcome != nil && len(r.Outcome.Survivors) > 0 &&
		(r.Outcome.Reason == Killed || r.Outcome.Reason == TimedOut)
}

// prune removes the record last: what a crash leaves behind is still found.
func (s *Store) prune(r Record) (int64, error) {
	paths := []string{s.exitPath(r.WorkID), s.reservePath(r.WorkID)}
	for _, p := range []string{r.Output.StdoutPath, r.Output.StderrPath} {
		if s.holds(p) {
			paths = append(paths, p)
		}
	}
	paths = append(paths, s.recordPath(r.WorkID))
	var freed int64
	err := s.locked(func() error {
		for _, p := range paths {
			n := fileSize(p)
			if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			freed += n
		}
		return nil
	})
	return freed, err
}

// holds says whether path lies in the session's own directory, the store's
// parent: a record is no authority to delete anything else.
func (s *Store) holds(path string) bool {
	session := filepath.Dir(filepath.Clean(s.dir))
	return filepath.IsAbs(path) && strings.HasPrefix(filepath.Clean(path), session+string(filepath.Separator))
}
