//go:build unix

package runtime

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// checkOwner refuses a directory of another user, root's own excepted where we
// are root.
func checkOwner(dir string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to uid %d, not to uid %d", dir, st.Uid, os.Geteuid())
	}
	return nil
}

// checkMode refuses a directory where others may do what they must not.
func checkMode(dir string, info fs.FileInfo, others fs.FileMode) error {
	if info.Mode().Perm()&others != 0 {
		return fmt.Errorf("%s is open to others (mode %04o); chmod 700 it, if it is for murmur alone", dir, info.Mode().Perm())
	}
	return nil
}

// writeAtomic puts data at path so that a crash leaves the old content or the
// new. What it may leave besides is in the same directory: the system's place for
// temporary files is no place for the tasks of a guest.
func writeAtomic(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path)))
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
