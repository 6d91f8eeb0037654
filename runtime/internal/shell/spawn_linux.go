package shell

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

// fork starts the command: leader of a session of its own, without a terminal
// and without any descriptor but the first three.
func (s *spawn) fork() (proctree.Forked, error) {
	stdin, done, err := s.stdin()
	if err != nil {
		return proctree.Forked{}, fmt.Errorf("cannot provide the standard input: %w", err)
	}
	defer done()
	dir, err := openDirNoLinks(s.launch.Dir)
	if err != nil {
		return proctree.Forked{}, err
	}
	defer unix.Close(dir)
	return s.exec(stdin.Fd(), dir)
}

func (s *spawn) exec(stdin uintptr, dir int) (proctree.Forked, error) {
	stdout, stderr := s.out.Writers()
	f := proctree.Forked{PIDFD: -1}
	attr := &syscall.ProcAttr{
		// The directory that was opened, whatever has its name by now.
		Dir:   fmt.Sprintf("/proc/self/fd/%d", dir),
		Env:   s.environ(),
		Files: []uintptr{stdin, stdout, stderr},
		Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &f.PIDFD},
	}
	var err error
	if f.PID, err = s.start(attr); err != nil {
		return f, s.explain(err)
	}
	return f, nil
}

// start starts the process, contained or not.
func (s *spawn) start(attr *syscall.ProcAttr) (pid int, err error) {
	if s.sandbox != nil {
		s.contained, err = startContained(s.sandbox, s.launch, attr)
		return s.contained.pid(), err
	}
	// This process may have been started with descriptors that are not
	// close-on-exec, or have code that opens such.
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil && err != unix.ENOSYS && err != unix.EINVAL {
		return 0, os.NewSyscallError("close_range", err)
	}
	pid, _, err = syscall.StartProcess(s.launch.Path, s.launch.Args, attr)
	return pid, err
}

// openDirNoLinks opens a directory by its real path. A component that has become
// a link since that path was found is an error.
func openDirNoLinks(path string) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err == unix.ENOSYS { // before Linux 5.6
		fd, err = unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	}
	switch err {
	case nil:
		return fd, nil
	case unix.ENOENT:
		return -1, fmt.Errorf("the directory %s is gone", Quote(path))
	case unix.ELOOP:
		return -1, fmt.Errorf("cannot enter the directory %s: a part of it has become a symbolic link", Quote(path))
	}
	return -1, fmt.Errorf("cannot enter the directory %s: %w", Quote(path), err)
}

// explain says what an error of the start means.
func (s *spawn) explain(err error) error {
	path := Quote(s.launch.Path)
	switch {
	case s.sandbox != nil && outOfReach(s.sandbox.Profile(), s.launch.Path):
		return fmt.Errorf("cannot start %s: it lies outside of what containment class %s grants (capabilities.filesystem.read)",
			path, s.sandbox.Profile().Class)
	case errors.Is(err, unix.E2BIG):
		return fmt.Errorf("cannot start %s: the arguments and the environment are longer together than this host allows", path)
	case errors.Is(err, unix.ENOENT):
		if _, serr := os.Stat(s.launch.Path); serr == nil {
			return fmt.Errorf("cannot start %s: the interpreter or loader that it names is missing", path)
		}
	}
	return fmt.Errorf("cannot start %s: %w", path, err)
}
