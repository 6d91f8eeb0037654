package runtime

import (
	"fmt"
	"io"
	"os"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// openWorkdir opens the directory at path, or makes the one at fresh.
func openWorkdir(path, fresh string) (*shell.Workdir, error) {
	if path == "" {
		if err := os.Mkdir(fresh, 0o700); err != nil {
			return nil, fmt.Errorf("cannot make the working directory: %w", err)
		}
		path = fresh
	}
	w, err := shell.OpenWorkdir(path)
	if err != nil {
		return nil, err
	}
	if err := readable(w.Root()); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("cannot read the workdir %s: %w", shell.Quote(path), err)
	}
	return w, nil
}

// readable tells whether the directory's entries can be listed.
func readable(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if _, err := d.Readdirnames(1); err != nil && err != io.EOF {
		return err
	}
	return nil
}
