package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Where the commands of a capsule find a home and a place for temporary files,
// in the workdir. Their caches and settings are theirs alone, and no secret of
// the host's user is in reach by way of "~".
const (
	ownDir  = ".murmur"
	homeDir = ownDir + "/home"
	tempDir = ownDir + "/tmp"
)

// Temp is the directory for temporary files, by its real path. A [Policy] makes
// it.
func (w *Workdir) Temp() string { return filepath.Join(w.path, tempDir) }

// prepare makes these directories, again if a command has removed them.
func (w *Workdir) prepare() error {
	for _, name := range []string{homeDir, tempDir} {
		info, err := os.Lstat(filepath.Join(w.path, name))
		if err == nil && info.IsDir() {
			continue
		}
		if err := w.makeOwn(name); err != nil {
			return fmt.Errorf("cannot prepare the workdir: %w", err)
		}
	}
	return nil
}

func (w *Workdir) makeOwn(name string) error {
	dir, err := w.directory(name, true)
	if err != nil {
		return err
	}
	dir.Close()
	return w.ignoreOwn()
}

// ignoreOwn keeps what programs put there out of a repository that the workdir
// may be.
func (w *Workdir) ignoreOwn() error {
	dir, err := w.directory(ownDir, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	f, err := dir.OpenFile(".gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}
