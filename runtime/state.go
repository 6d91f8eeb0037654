package runtime

import (
	"fmt"
	"os"
	"path/filepath"
)

// A stateDir is where sessions live: <state>/sessions/<ses>/ holds a session's
// trace, logs and captured output, <state>/workdirs/<ses>/ its working
// directory unless it was given one.
type stateDir string

// openState makes the directory and refuses one that another user could plant
// things in: what it holds is believed at the next start.
func openState(path string) (stateDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cannot use state directory %q: %w", path, err)
	}
	for _, dir := range []string{abs, filepath.Join(abs, "sessions"), filepath.Join(abs, "workdirs")} {
		if err := privateDir(dir); err != nil {
			return "", fmt.Errorf("cannot use state directory %s: %w", abs, err)
		}
	}
	return stateDir(abs), nil
}

// privateDir makes dir with mode 0700 and checks that it is ours alone.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if err := checkOwner(dir, info); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

func (d stateDir) sessions() string         { return filepath.Join(string(d), "sessions") }
func (d stateDir) session(id string) string { return filepath.Join(d.sessions(), id) }
func (d stateDir) workdir(id string) string { return filepath.Join(string(d), "workdirs", id) }
