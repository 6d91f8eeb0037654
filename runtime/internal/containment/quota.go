package containment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

// maxDepth bounds how deep a workdir is looked into: a tree that is deeper was
// made to be.
const maxDepth = 128

// A Quota checks how much a workdir holds before a command starts. It stops no
// write: while commands run, only the size of each file is bounded. It is safe
// for concurrent use.
type Quota struct {
	dir string
	max int64
	now func() time.Time

	mu   sync.Mutex
	next time.Time
	last error
}

// NewQuota watches dir, which may hold max bytes, as [Limits.WorkdirMaxBytes].
func NewQuota(dir string, max int64) *Quota {
	return &Quota{dir: dir, max: max, now: time.Now}
}

// A FullError says that a workdir holds more than it may.
type FullError struct {
	// Dir is the workdir, Bytes at least what it holds, Max what it may hold.
	Dir        string
	Bytes, Max int64
}

func (e *FullError) Error() string {
	return fmt.Sprintf("cannot start a command: the workdir %s holds over %d bytes (workdir_max_bytes %d); remove something through the guest first",
		e.Dir, e.Bytes, e.Max)
}

// Check measures the workdir, unless that was done so recently that doing it
// again would take more than a tenth of the time; then it repeats its answer. A
// workdir that was too full is always measured again.
func (q *Quota) Check(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last == nil && q.now().Before(q.next) {
		return nil
	}
	start := q.now()
	bytes, err := measure(ctx, q.dir, q.max)
	end := q.now()
	q.next = end.Add(10 * end.Sub(start))
	switch {
	case err != nil:
		q.last = fmt.Errorf("cannot measure the workdir %s: %w", q.dir, err)
	case bytes > q.max:
		q.last = &FullError{Dir: q.dir, Bytes: bytes, Max: q.max}
	default:
		q.last = nil
	}
	return q.last
}

// measure adds up the sizes of the files below dir, until they are over limit.
// It follows no link. What cannot be read counts as nothing.
func measure(ctx context.Context, dir string, limit int64) (int64, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	var total int64
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil
		case strings.Count(path, "/") > maxDepth:
			return errors.New("its directories are nested too deep")
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		if total > limit {
			return fs.SkipAll
		}
		return nil
	})
	return total, err
}
