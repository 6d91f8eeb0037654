package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Writers returns the descriptors that the command gets as its standard output
// and standard error. They are closed by Start and Abort.
func (c *Capture) Writers() (stdout, stderr uintptr) {
	return uintptr(c.streams[0].writer), uintptr(c.streams[1].writer)
}

// Hold makes the command a reader of its own output, before it is started: its
// ends are opened for reading and writing. Then no death of a reader is a broken
// pipe to it. It waits, at worst, until somebody goes on reading with [Adopt].
func (c *Capture) Hold() error {
	for _, s := range c.streams {
		path := fmt.Sprintf("/proc/self/fd/%d", s.writer)
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return &os.PathError{Op: "open", Path: path, Err: err}
		}
		unix.Close(s.writer)
		s.writer = fd
	}
	return nil
}

// Pipes returns the inode numbers of the pipes, by which their ends are found
// again among a process's descriptors.
func (c *Capture) Pipes() [2]uint64 {
	var inodes [2]uint64
	for i, s := range c.streams {
		_ = s.conn.Control(func(fd uintptr) {
			var st unix.Stat_t
			if unix.Fstat(int(fd), &st) == nil {
				inodes[i] = st.Ino
			}
		})
	}
	return inodes
}

// Readers returns duplicates of the ends that are read here. Whoever holds them
// keeps the command from a broken pipe when this process dies, and can go on
// with [Adopt]; until then it must not read. A stream that has ended is an
// error.
func (c *Capture) Readers() (stdout, stderr *os.File, err error) {
	stdout, err = c.streams[0].duplicate()
	if err != nil {
		return nil, nil, err
	}
	if stderr, err = c.streams[1].duplicate(); err != nil {
		stdout.Close()
		return nil, nil, err
	}
	return stdout, stderr, nil
}

func (s *stream) duplicate() (*os.File, error) {
	var fd int
	var err error
	cerr := s.conn.Control(func(pipe uintptr) {
		fd, err = unix.FcntlInt(pipe, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(cerr, err); err != nil {
		return nil, &os.PathError{Op: "dup", Path: s.path, Err: err}
	}
	return os.NewFile(uintptr(fd), s.path), nil
}

// Adopt goes on with a capture whose process has died: it appends to the files,
// if there are any, and takes over the ends. What the dead process had read is
// on disk, because the bytes never leave the kernel.
func Adopt(dir, name string, limit int64, stdout, stderr *os.File) (*Capture, error) {
	c := new(Capture)
	c.budget.left.Store(limit)
	for i, end := range []*os.File{stdout, stderr} {
		suffix := []string{StdoutSuffix, StderrSuffix}[i]
		s, err := adoptStream(filepath.Join(dir, name+suffix), &c.budget, end)
		if err != nil {
			c.release()
			return nil, err
		}
		c.streams[i] = s
	}
	return c, nil
}

func adoptStream(path string, b *budget, end *os.File) (s *stream, err error) {
	s = &stream{file: -1, writer: -1, pipe: end}
	s.path, s.budget, s.settled = path, b, make(chan struct{})
	if s.conn, err = end.SyscallConn(); err != nil {
		return nil, err
	}
	s.file, err = unix.Open(path, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return s, nil
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	size, err := unix.Seek(s.file, 0, unix.SEEK_END)
	s.total.Store(size)
	b.take(size)
	return s, os.NewSyscallError("lseek", err)
}

// release closes the files of streams that were never started.
func (c *Capture) release() {
	for _, s := range c.streams {
		if s != nil && s.file >= 0 {
			unix.Close(s.file)
		}
	}
}

// writable reports whether files can be made in dir.
func writable(dir string) error {
	return unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}
