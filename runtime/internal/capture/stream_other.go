//go:build !linux

package capture

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// patience is how long finish waits for the end of a pipe that a process left
// behind may hold for ever.
const patience = 250 * time.Millisecond

// A stream is one pipe and its file, with a copy through this process.
type stream struct {
	common
	mu     sync.Mutex
	file   *os.File // nil once it is closed
	pipe   *os.File
	writer *os.File
}

func openStream(path string, b *budget) (*stream, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	s := &stream{file: file}
	s.path, s.budget, s.settled = path, b, make(chan struct{})
	if s.pipe, s.writer, err = os.Pipe(); err != nil {
		s.abort()
		return nil, err
	}
	return s, nil
}

func (s *stream) closeWriter() {
	if s.writer != nil {
		s.writer.Close()
	}
}

func (s *stream) abort() {
	s.closeWriter()
	if s.pipe != nil {
		s.pipe.Close()
	}
	s.file.Close()
	os.Remove(s.path)
}

func (s *stream) finish() {
	timer := time.AfterFunc(patience, s.settle)
	go func() {
		<-s.settled
		timer.Stop()
	}()
}

func (s *stream) run() {
	defer s.pipe.Close()
	defer s.settle()
	io.Copy(s, s.pipe)
}

func (s *stream) settle() {
	s.once.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.file.Close()
		s.file = nil
		close(s.settled)
	})
}

// Write keeps what may be kept of b. It never fails, so that the pipe is read
// whatever happens.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return len(b), nil
	}
	s.total.Add(int64(len(b)))
	keep := int64(0)
	if s.failed.Load() == nil {
		keep = s.budget.take(int64(len(b)))
	}
	if keep < int64(len(b)) {
		s.budget.dropped.Store(true)
	}
	if _, err := s.file.Write(b[:keep]); keep > 0 && err != nil {
		s.fail(errors.Unwrap(err))
	}
	return len(b), nil
}

// writable is answered when the files are made.
func writable(dir string) error { return nil }

// Writers returns what the command gets as its standard output and standard
// error. They are closed by Start and Abort.
func (c *Capture) Writers() (stdout, stderr *os.File) {
	return c.streams[0].writer, c.streams[1].writer
}
