// Package capture puts what a command writes on disk while it runs, in constant
// memory, and never lets the command wait for a reader or die for want of one.
//
// Each stream goes through a pipe to a file. A cap holds for both files
// together; what is over it is read, counted and dropped, and so is everything
// once a file cannot be written any more. When the command has ended, what is
// in the pipes is taken, and the files are done. A process that the command
// left behind and that still holds a pipe is read on and ignored until it lets
// go: one goroutine a stream, for exactly as long as there is such a process.
package capture

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Suffixes of the files' names.
const (
	StdoutSuffix = ".stdout"
	StderrSuffix = ".stderr"
)

// State tells what came so far.
type State struct {
	// StdoutPath and StderrPath are the files' paths. A file is there once its
	// stream has brought anything.
	StdoutPath, StderrPath string
	// StdoutBytes and StderrBytes count what was written, kept or not.
	StdoutBytes, StderrBytes int64
	// Truncated says that some of it was not kept.
	Truncated bool
	// Err is why a file could not be written, if that is why.
	Err error
}

// A Capture is the output of one command. Its methods are safe for concurrent
// use, except that Start or Abort is called once, and first.
type Capture struct {
	streams [2]*stream
	budget  budget
}

// Open prepares the files <name>.stdout and <name>.stderr in dir, which must not
// exist, to hold limit bytes together, and the pipes to them. A file is made when
// the first byte comes: a stream that brings nothing has none.
func Open(dir, name string, limit int64) (*Capture, error) {
	if err := writable(dir); err != nil {
		return nil, &os.PathError{Op: "write to", Path: dir, Err: err}
	}
	c := new(Capture)
	c.budget.left.Store(limit)
	for i, suffix := range []string{StdoutSuffix, StderrSuffix} {
		s, err := openStream(filepath.Join(dir, name+suffix), &c.budget)
		if err != nil {
			c.Abort()
			return nil, err
		}
		c.streams[i] = s
	}
	return c, nil
}

// Start begins to read. The ends that the command got are closed here.
func (c *Capture) Start() {
	for _, s := range c.streams {
		s.closeWriter()
		go s.run()
	}
}

// Abort gives up before the start.
func (c *Capture) Abort() {
	for _, s := range c.streams {
		if s != nil {
			s.abort()
		}
	}
}

// Finish takes what is in the pipes now and closes the files.
func (c *Capture) Finish() {
	for _, s := range c.streams {
		s.finish()
	}
	for _, s := range c.streams {
		<-s.settled
	}
}

// State tells what came so far.
func (c *Capture) State() State {
	out, err := c.streams[0], c.streams[1]
	st := State{
		StdoutPath:  out.path,
		StderrPath:  err.path,
		StdoutBytes: out.total.Load(),
		StderrBytes: err.total.Load(),
		Truncated:   c.budget.dropped.Load(),
	}
	for _, s := range c.streams {
		if e := s.failed.Load(); e != nil && st.Err == nil {
			st.Err = *e
		}
	}
	return st
}

// budget is what may still be kept, of both streams together.
type budget struct {
	left    atomic.Int64
	dropped atomic.Bool
}

// take reserves up to n bytes.
func (b *budget) take(n int64) int64 {
	for {
		left := b.left.Load()
		got := min(n, left)
		if got <= 0 {
			return 0
		}
		if b.left.CompareAndSwap(left, left-got) {
			return got
		}
	}
}

// common is what a stream is on every platform.
type common struct {
	path   string
	budget *budget
	total  atomic.Int64
	failed atomic.Pointer[error]

	once    sync.Once
	settled chan struct{} // closed when the file is done
}

// fail records why the file cannot be written. What comes from then on is
// dropped.
func (s *common) fail(err error) {
	err = &os.PathError{Op: "write", Path: s.path, Err: err}
	s.failed.CompareAndSwap(nil, &err)
	s.budget.dropped.Store(true)
}
