//go:build !linux

package shell

import (
	"os"
	"path/filepath"
)

// rootPath returns the real path of the directory that sub was opened as.
func rootPath(w *Workdir, sub *os.Root, cwd string) (string, error) {
	path, err := filepath.EvalSymlinks(filepath.Join(w.path, cwd))
	if err != nil {
		return "", fieldError("cwd", "cannot enter %s in the workdir: %v", Quote(cwd), cause(err))
	}
	if rel, err := filepath.Rel(w.path, path); err != nil || !filepath.IsLocal(rel) {
		return "", fieldError("cwd", "%s is not in the workdir any more", Quote(cwd))
	}
	return path, nil
}

// writable is answered when something is written.
func writable(dir string) error { return nil }
