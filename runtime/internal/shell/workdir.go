package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

// A Workdir is the directory that a capsule's commands work in, reached through
// one handle: no path leads out of it, whatever links appear in it. It is safe
// for concurrent use.
type Workdir struct {
	path string
	root *os.Root
	info os.FileInfo
}

// OpenWorkdir opens the directory at path.
func OpenWorkdir(path string) (*Workdir, error) {
	if path == "" {
		return nil, errors.New("cannot open the workdir: no path given")
	}
	real, err := realPath(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open the workdir: %w", err)
	}
	// Records, reports and what the guest is told are text.
	if !utf8.ValidString(real) {
		return nil, fmt.Errorf("cannot open the workdir: its path %s is not valid UTF-8", Quote(real))
	}
	// As in openDir, the dot keeps a FIFO from being waited for.
	root, err := os.OpenRoot(real + string(filepath.Separator) + ".")
	if err != nil {
		return nil, fmt.Errorf("cannot open the workdir: %w", err)
	}
	info, err := root.Stat(".")
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("cannot open the workdir: %w", err)
	}
	return &Workdir{real, root, info}, nil
}

func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// Path returns the workdir's absolute real path.
func (w *Workdir) Path() string { return w.path }

// Root returns the handle. It belongs to the workdir.
func (w *Workdir) Root() *os.Root { return w.root }

// Close closes the handle.
func (w *Workdir) Close() error { return w.root.Close() }

// Check returns an error if the workdir is not at its path any more: a command
// could only be started where nothing that it leaves would be found.
func (w *Workdir) Check() error {
	info, err := os.Stat(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the workdir %s is gone", Quote(w.path))
	case err != nil:
		return fmt.Errorf("cannot reach the workdir: %w", err)
	case !os.SameFile(info, w.info):
		return fmt.Errorf("the workdir %s is gone; another directory has its place", Quote(w.path))
	}
	return nil
}

// Dir returns the absolute real path of the directory cwd in the workdir.
func (w *Workdir) Dir(cwd string) (string, error) {
	if cwd == "" || cwd == "." {
		return w.path, nil
	}
	if err := checkPath("cwd", cwd); err != nil {
		return "", err
	}
	sub, err := openDir(w.root, cwd)
	if err != nil {
		return "", fieldError("cwd", "cannot enter %s in the workdir: %v", Quote(cwd), cause(err))
	}
	defer sub.Close()
	return rootPath(w, sub, cwd)
}

// openDir opens a directory in dir, and nothing else. The trailing dot is what
// makes a FIFO of that name an error: opening it plainly would block for ever.
func openDir(dir *os.Root, name string) (*os.Root, error) { return dir.OpenRoot(name + "/.") }

// cause strips the operation and the path from an error about a path.
func cause(err error) error {
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// directory opens the directory name of the workdir. Neither name nor what leads
// to it may be a link, since what is put there must not land elsewhere. With
// create, what is missing is made.
func (w *Workdir) directory(name string, create bool) (*os.Root, error) {
	dir, err := w.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for _, part := range splitPath(name) {
		next, err := enter(dir, part, create)
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// splitPath returns the parts of a clean local path.
func splitPath(name string) []string {
	var parts []string
	for name = filepath.Clean(name); name != "."; name = filepath.Dir(name) {
		parts = append([]string{filepath.Base(name)}, parts...)
	}
	return parts
}

// enter opens the directory name in dir, and proves that it was no link when it
// was opened.
func enter(dir *os.Root, name string, create bool) (*os.Root, error) {
	if create {
		if err := dir.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New(describeMode(before))}
	}
	next, err := openDir(dir, name)
	if err != nil {
		return nil, err
	}
	if after, err := next.Stat("."); err != nil || !os.SameFile(before, after) {
		next.Close()
		return nil, &os.PathError{Op: "open", Path: name, Err: errors.New("replaced while it was opened")}
	}
	return next, nil
}

func describeMode(info os.FileInfo) string {
	if info.Mode()&fs.ModeSymlink != 0 {
		return "a symbolic link, not a directory"
	}
	return "not a directory"
}
