package capsule

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Load reads the manifest of a capsule: path is the capsule's folder, or the
// manifest itself. The guest's file must be there. What is wrong with the
// manifest is an [*Error]; other errors name the file that cannot be read.
func Load(path string) (*Manifest, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot find the capsule: %w", err)
	}
	if info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	data, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	m, positions, err := parse(data, path)
	if err != nil {
		return nil, err
	}
	m.Dir = filepath.Dir(path)
	if err := checkGuestFile(m); err != nil {
		err.File = path
		err.at(positions[err.Field])
		return nil, err
	}
	return m, nil
}

func readManifest(path string) ([]byte, error) {
	f, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot find the manifest: there is no %s in %s: %w",
			filepath.Base(path), filepath.Dir(path), fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the manifest: %w", err)
	}
	return data, nil
}

// openRegular opens a file without waiting for the other end of a pipe.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.Open(path)
}

func checkGuestFile(m *Manifest) *Error {
	const field = "guest.path"
	info, err := os.Stat(m.GuestPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wrong(field, "there is no file %s (has the guest been built?)", m.GuestPath())
	case err != nil:
		return wrong(field, "cannot look at the guest: %v", err)
	case !info.Mode().IsRegular():
		return wrong(field, "%s is no regular file", m.GuestPath())
	}
	return nil
}
