package capture

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Writers returns the descriptors that the command gets as its standard output
// and standard error. They are closed by Start and Abort.
func (c *Capture) Writers() (stdout, stderr uintptr) {
	return uintptr(c.streams[0].writer), uintptr(c.streams[1].writer)
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

// Adopt goes on with a capture whose process has died: it appends to the files
// that are there and takes over the ends. What the dead process had read and not
// yet written cannot exist, because the bytes never leave the kernel.
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

func adoptStream(path string, b *budget, end *os.File) (*stream, error) {
	file, err := unix.Open(path, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	s := &stream{file: file, writer: -1}
	s.path, s.budget, s.settled = path, b, make(chan struct{})
	size, err := unix.Seek(file, 0, unix.SEEK_END)
	if err == nil {
		s.total.Store(size)
		b.take(size)
		s.pipe = end
		s.conn, err = end.SyscallConn()
	}
	if err != nil {
		unix.Close(file)
		return nil, &os.PathError{Op: "adopt", Path: path, Err: err}
	}
	return s, nil
}

// release closes the files of streams that were never started.
func (c *Capture) release() {
	for _, s := range c.streams {
		if s != nil {
			unix.Close(s.file)
		}
	}
}
