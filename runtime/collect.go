package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// Collected is what [Collect] removed.
type Collected struct {
	Jobs     int   `json:"jobs"`
	Sessions int   `json:"sessions"`
	Bytes    int64 `json:"bytes"`
}

// Collect removes what nobody needs any more from a state directory: records and
// captured output of commands whose results were taken longer ago than keep,
// and sessions that ended or died that long ago with nothing owed. Working
// directories are never removed. What could not be removed is told in problems.
func Collect(ctx context.Context, dir string, keep time.Duration) (c Collected, problems []error, err error) {
	sessions, err := Sessions(dir)
	if err != nil {
		return c, nil, err
	}
	for _, info := range sessions {
		if err := ctx.Err(); err != nil {
			return c, problems, err
		}
		if err := c.collect(info, keep); err != nil {
			problems = append(problems, fmt.Errorf("session %s: %w", info.ID, err))
		}
	}
	return c, append(problems, c.collectUnborn(dir, max(keep, unbornAge))...), nil
}

// unbornAge is how long a session may take from its directory to its file.
const unbornAge = time.Minute

// collectUnborn removes the directories of sessions whose process died before
// they were written down: nothing ran in them.
func (c *Collected) collectUnborn(dir string, keep time.Duration) (problems []error) {
	root := stateDir(dir).sessions()
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []error{err}
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.IsDir() || !ids.Session.Valid(e.Name()) || time.Since(info.ModTime()) <= keep {
			continue
		}
		if err := c.removeUnborn(filepath.Join(root, e.Name())); err != nil {
			problems = append(problems, fmt.Errorf("session %s: %w", e.Name(), err))
		}
	}
	return problems
}

func (c *Collected) removeUnborn(dir string) error {
	if !unborn(dir) {
		return nil
	}
	return unlessRunning(dir, func() error {
		if !unborn(dir) {
			return nil // It was about to begin.
		}
		return c.remove(dir)
	})
}

// unlessRunning does something to a session while nobody else can have it; not if
// somebody has.
func unlessRunning(dir string, do func() error) error {
	lock, err := lockSession(dir)
	if errors.Is(err, errRunning) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.release()
	return do()
}

func unborn(dir string) bool {
	_, _, err := knownOf(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// remove removes a session. Its file goes after what would need it: half a session
// is still known as one.
func (c *Collected) remove(dir string) error {
	n := treeSize(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == sessionFileName || e.Name() == lockName {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(dir, sessionFileName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	c.Sessions++
	c.Bytes += n
	return nil
}

func (c *Collected) collect(info SessionInfo, keep time.Duration) error {
	store, err := supervisor.Records(info.Dir)
	if err != nil {
		return err
	}
	got, err := store.GC(time.Now(), keep, leavesLiving)
	c.Jobs += got.Works
	c.Bytes += got.Bytes
	for _, a := range got.Aside {
		err = errors.Join(err, fmt.Errorf("a record was set aside: %s", a))
	}
	if err != nil || info.Running || time.Since(lastSign(info)) <= keep {
		return err
	}
	// Whoever goes on with the session just now has it.
	return unlessRunning(info.Dir, func() error {
		if owes, err := owes(info, store); owes || err != nil {
			return err
		}
		return c.remove(info.Dir)
	})
}

// lastSign is when the session ended. One that died gave its last sign of life
// when it last wrote something down, or somebody did in its place.
func lastSign(info SessionInfo) time.Time {
	last := info.Ended
	if !last.IsZero() {
		return last
	}
	last = info.Started
	for _, name := range []string{sessionFileName, traceName} {
		if f, err := os.Stat(filepath.Join(info.Dir, name)); err == nil && f.ModTime().After(last) {
			last = f.ModTime()
		}
	}
	return last
}

// owes says whether a session that is over has anything left that somebody is
// owed: commands, results, tasks, or the account of what it left.
func owes(info SessionInfo, store *jobs.Store) (bool, error) {
	if supervisor.Alive(info.Dir) {
		return true, nil
	}
	if owes, err := supervisor.Owes(info.Dir); owes || err != nil {
		return true, err
	}
	handles, _, err := store.List()
	if err != nil || len(handles) > 0 {
		return true, err
	}
	if unread, err := store.Unread(); unread || err != nil {
		return true, err
	}
	if owes, err := (&pendingStore{filepath.Join(info.Dir, pendingName)}).owes(); owes || err != nil {
		return true, err
	}
	return owesAccount(info)
}

// owesAccount says whether the session's trace is needed: by a guest that is to be
// told of lost commands, or by the session that this one was resumed from, whose
// lost commands may have been told here.
func owesAccount(info SessionInfo) (bool, error) {
	state := stateDir(filepath.Dir(filepath.Dir(info.Dir)))
	if ids.Session.Valid(info.ResumedFrom) {
		if _, err := os.Lstat(state.session(info.ResumedFrom)); err == nil {
			return true, nil
		}
	}
	if !info.Died() {
		return false, nil
	}
	losses, err := trace.Losses(info.ID, state.openTrace)
	return len(losses) > 0, err
}

func treeSize(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
