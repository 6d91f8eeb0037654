package capture

import (
	"cmp"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// chunk is how much is moved by one call.
	chunk = 1 << 20
	// largeFrom is how much a stream brings before its pipe is enlarged. Big
	// pipes are scarce: a user has a budget of them.
	largeFrom = 1 << 20
	largePipe = 1 << 20
)

var null = sync.OnceValue(func() int {
	fd, err := unix.Open("/dev/null", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
})

// A stream is one pipe and its file. The bytes go from one to the other inside
// the kernel (splice(2)). Until there are any there is no file, because making
// one can take longer than a short command.
type stream struct {
	common
	file   int // -1 while there is none
	pipe   *os.File
	conn   syscall.RawConn
	writer int

	over   bool // what comes is not the command's any more
	copies bool // the file takes no splice
	large  bool
}

func openStream(path string, b *budget) (*stream, error) {
	s := &stream{file: -1, writer: -1}
	s.path, s.budget, s.settled = path, b, make(chan struct{})
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != unix.ENOENT {
		return nil, &os.PathError{Op: "create", Path: path, Err: cmp.Or(err, error(unix.EEXIST))}
	}
	return s, s.openPipe()
}

func (s *stream) openPipe() error {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	s.writer = ends[1]
	return s.setPipe(ends[0])
}

// setPipe takes over the read end. Only this end is non-blocking: the other is
// the command's.
func (s *stream) setPipe(fd int) error {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return os.NewSyscallError("fcntl", err)
	}
	s.pipe = os.NewFile(uintptr(fd), "pipe of "+s.path)
	var err error
	s.conn, err = s.pipe.SyscallConn()
	return err
}

func (s *stream) closeWriter() {
	if s.writer >= 0 {
		unix.Close(s.writer)
		s.writer = -1
	}
}

func (s *stream) abort() {
	s.closeWriter()
	s.pipe.Close()
}

// finish makes run settle, if the end of the pipe has not done it yet.
func (s *stream) finish() { s.pipe.SetReadDeadline(time.Unix(1, 0)) }

// run moves the stream until its last writer lets go.
func (s *stream) run() {
	defer s.pipe.Close()
	defer s.settle()
	var n int
	var err error
	move := func(fd uintptr) bool {
		n, err = s.move(int(fd), chunk)
		return err != unix.EAGAIN
	}
	for {
		cerr := s.conn.Read(move)
		switch {
		case errors.Is(cerr, os.ErrDeadlineExceeded):
			s.takeRest()
			s.settle()
			s.pipe.SetReadDeadline(time.Time{})
		case cerr != nil, err != nil, n == 0:
			return
		default:
			s.grow()
		}
	}
}

// takeRest moves what is in the pipe now. What a process writes that goes on
// writing after that is not the command's any more.
func (s *stream) takeRest() {
	s.conn.Control(func(fd uintptr) {
		rest, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		for err == nil && rest > 0 {
			var n int
			if n, err = s.move(int(fd), rest); n == 0 {
				return
			}
			rest -= n
		}
	})
}

// settle closes the file. What comes later is dropped and not counted.
func (s *stream) settle() {
	s.once.Do(func() {
		if s.file >= 0 {
			unix.Close(s.file)
		}
		s.over = true
		close(s.settled)
	})
}

// move moves up to limit bytes from the pipe to where they belong. Zero bytes
// without an error are the end of the stream.
func (s *stream) move(pipe, limit int) (int, error) {
	if s.over {
		return splice(pipe, null(), limit)
	}
	// No more is reserved than there is to move: what one stream holds without
	// need, the other would have to drop.
	rest, err := waiting(pipe)
	if rest == 0 || err != nil {
		return 0, err
	}
	limit = min(limit, rest)
	if keep := s.keep(limit); keep > 0 {
		n, err := s.store(pipe, keep)
		s.budget.giveBack(int64(keep - n))
		s.total.Add(int64(n))
		if err == nil || err == unix.EAGAIN {
			return n, err
		}
		s.fail(err)
	}
	n, err := splice(pipe, null(), limit)
	if n > 0 {
		s.total.Add(int64(n))
		s.budget.dropped.Store(true)
	}
	return n, err
}

func (s *stream) keep(limit int) int {
	if s.failed.Load() != nil {
		return 0
	}
	return int(s.budget.take(int64(limit)))
}

// waiting returns how many bytes are in the pipe. None, without an error, says
// that no writer is left; EAGAIN, that there is one.
func waiting(pipe int) (int, error) {
	for {
		rest, err := unix.IoctlGetInt(pipe, unix.TIOCINQ)
		if rest > 0 || err != nil {
			return rest, err
		}
		fds := []unix.PollFd{{Fd: int32(pipe), Events: unix.POLLIN}}
		if _, err := retry(func() (int, error) { return unix.Poll(fds, 0) }); err != nil {
			return 0, err
		}
		switch {
		case fds[0].Revents == 0:
			return 0, unix.EAGAIN
		case fds[0].Revents&unix.POLLIN == 0:
			return 0, nil
		}
	}
}

// store moves up to limit bytes to the file. It is made before they leave the
// pipe, where they outlive this process.
func (s *stream) store(pipe, limit int) (int, error) {
	if err := s.create(); err != nil {
		return 0, err
	}
	if !s.copies {
		n, err := splice(pipe, s.file, limit)
		if err != unix.EINVAL {
			return n, err
		}
		s.copies = true
	}
	return s.copy(pipe, limit)
}

// giveBack returns what was reserved and not used.
func (b *budget) giveBack(n int64) { b.left.Add(n) }

func splice(from, to, limit int) (int, error) {
	return retry(func() (int, error) {
		n, err := unix.Splice(from, nil, to, nil, limit, unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
		return int(n), err
	})
}

// grow enlarges the pipe of a stream that turned out to bring much. A refusal
// does no harm.
func (s *stream) grow() {
	if s.large || s.total.Load() < largeFrom {
		return
	}
	s.large = true
	s.conn.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, largePipe) })
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// copy is splice by way of this process.
func (s *stream) copy(pipe, limit int) (int, error) {
	buf := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buf)
	n, err := retry(func() (int, error) { return unix.Read(pipe, buf[:min(limit, len(buf))]) })
	if err != nil || n == 0 {
		return 0, err
	}
	for rest := buf[:n]; err == nil && len(rest) > 0; {
		var m int
		m, err = retry(func() (int, error) { return unix.Write(s.file, rest) })
		rest = rest[m:]
	}
	return n, err
}

// create makes the file, if that is not done yet. Nothing must be there before.
func (s *stream) create() (err error) {
	if s.file < 0 {
		s.file, err = unix.Open(s.path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	}
	return err
}

// retry repeats a call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return max(n, 0), err
		}
	}
}
