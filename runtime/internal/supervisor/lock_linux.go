package supervisor

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

// takeLock waits until no other supervisor of dir lives and keeps it so for as
// long as this process does. One that is just leaving holds it for a moment yet.
func takeLock(dir string) (*os.File, error) {
	f, err := openLock(dir)
	if err != nil {
		return nil, err
	}
	if err := flock(f, unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func openLock(dir string) (*os.File, error) {
	return regular.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
}

func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// Alive says whether the session in dir has a living supervisor. Whoever asks
// before looking for exit records knows that a supervisor which has left since
// has written them all.
func Alive(dir string) bool {
	f, err := regular.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
