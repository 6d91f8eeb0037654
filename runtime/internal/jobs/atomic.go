package jobs

import (
	"errors"
	"os"
	"path/filepath"
)

// writeAtomic puts data at path so that a crash at any instant leaves the old
// content or the new, and so that the new is on disk once it has returned.
func writeAtomic(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		return errors.Join(err, discard(f))
	}
	return commit(f, path)
}

// commit makes the open file the one at path.
func commit(f *os.File, path string) error {
	if err := f.Sync(); err != nil {
		return errors.Join(err, discard(f))
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}

func discard(f *os.File) error {
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
