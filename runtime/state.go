package runtime

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

// A stateDir is where sessions live: <state>/sessions/<ses>/ holds a session's
// trace, logs and captured output, <state>/workdirs/<ses>/ its working
// directory unless it was given one.
type stateDir string

// openState makes the directory and refuses one that another user could plant
// things in: what it holds is believed at the next start.
func openState(path string) (stateDir, error) {
	abs, err := filepath.Abs(path)
	if err == nil && !utf8.ValidString(abs) {
		err = errors.New("its path is not valid UTF-8") // records are text
	}
	if err != nil {
		return "", fmt.Errorf("cannot use state directory %q: %w", path, err)
	}
	// Others may look into the directory, which holds nothing but the two, if
	// whoever made it wants that.
	for _, d := range []struct {
		path   string
		others fs.FileMode
	}{{abs, 0o022}, {filepath.Join(abs, "sessions"), 0o077}, {filepath.Join(abs, "workdirs"), 0o077}} {
		if err := privateDir(d.path, d.others); err != nil {
			return "", fmt.Errorf("cannot use state directory %s: %w", abs, err)
		}
	}
	return stateDir(abs), nil
}

// privateDir makes dir with mode 0700, or checks that it is ours and that nobody
// else may do there what others says. One that is there is not changed: it may
// have other uses.
func privateDir(dir string, others fs.FileMode) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link; name what it leads to", dir)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if err := checkOwner(dir, info); err != nil {
		return err
	}
	return checkMode(dir, info, others)
}

func (d stateDir) sessions() string         { return filepath.Join(string(d), "sessions") }
func (d stateDir) session(id string) string { return filepath.Join(d.sessions(), id) }
func (d stateDir) workdir(id string) string { return filepath.Join(string(d), "workdirs", id) }

// openTrace opens the trace of a session that something on disk names.
func (d stateDir) openTrace(session string) (io.ReadCloser, error) {
	if !ids.Session.Valid(session) {
		return nil, fs.ErrNotExist
	}
	return regular.Open(filepath.Join(d.session(session), traceName))
}
