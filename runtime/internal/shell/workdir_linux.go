package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// rootPath asks the kernel where sub is, so that the answer is about the
// directory that was opened and not about its name.
func rootPath(w *Workdir, sub *os.Root, cwd string) (string, error) {
	dir, err := sub.Open(".")
	if err != nil {
		return "", fieldError("cwd", "cannot enter %s in the workdir: %v", Quote(cwd), cause(err))
	}
	defer dir.Close()
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", dir.Fd()))
	if err != nil {
		return "", fieldError("cwd", "cannot tell where %s is: %v", Quote(cwd), cause(err))
	}
	if rel, err := filepath.Rel(w.path, path); err != nil || !filepath.IsLocal(rel) || strings.HasSuffix(path, " (deleted)") {
		return "", fieldError("cwd", "%s is not in the workdir any more", Quote(cwd))
	}
	return path, nil
}

// writable reports whether this process may make files in dir.
func writable(dir string) error {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}
