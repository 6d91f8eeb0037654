package wasi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// chunk is how much of an input is read ahead.
const chunk = 32 << 10

// An input is a guest's standard input: a reader that may block, read ahead by
// one chunk. A read runs only when the guest has asked for data or waits for it,
// and nothing runs once the last of its streams and pollables is dropped.
type input struct {
	r    io.Reader
	wake waker
	// direct tells that reading never blocks, so that no goroutine is needed.
	direct bool
	// users counts the streams and pollables; only the guest's calls touch it.
	users int

	mu      sync.Mutex
	data    []byte        // read, and not taken yet
	err     error         // what the reader ended with
	reading chan struct{} // closed when the read in progress has ended; nil if there is none
	buf     []byte
}

func newInput(r io.Reader, w waker) *input {
	if r == nil {
		r = strings.NewReader("")
	}
	return &input{r: r, wake: w, direct: neverBlocks(r)}
}

// neverBlocks tells whether a reader has its data at hand.
func neverBlocks(r io.Reader) bool {
	switch r := r.(type) {
	case *bytes.Reader, *bytes.Buffer, *strings.Reader:
		return true
	case *os.File:
		info, err := r.Stat()
		return err == nil && info.Mode().IsRegular()
	}
	return false
}

func (in *input) retain() { in.users++ }

// release ends the read in progress when nobody is left to want it.
func (in *input) release() {
	if in.users--; in.users == 0 {
		in.interrupt()
	}
}

// fill starts a read if there is nothing to take. The lock is held.
func (in *input) fill() {
	if len(in.data) > 0 || in.err != nil || in.reading != nil {
		return
	}
	if in.buf == nil {
		in.buf = make([]byte, chunk)
	}
	if in.direct {
		in.keep(readSome(in.r, in.buf))
		return
	}
	done := make(chan struct{})
	in.reading = done
	go func() {
		n, err := readSome(in.r, in.buf)
		in.mu.Lock()
		defer in.mu.Unlock()
		in.reading = nil
		in.keep(n, err)
		close(done)
		in.wake.signal()
	}()
}

// readSome reads at least one byte, or fails. A reader that gives neither is given
// up.
func readSome(r io.Reader, p []byte) (n int, err error) {
	for range 100 {
		if n, err = r.Read(p); n != 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// keep keeps what a read has brought. One that was interrupted has not failed.
// The lock is held.
func (in *input) keep(n int, err error) {
	in.data = in.buf[:min(max(n, 0), len(in.buf))]
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		in.err = err
	}
}

// ready tells whether there is something to take: data, or the end.
func (in *input) ready() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.fill()
	return len(in.data) > 0 || in.err != nil
}

// read takes up to len(p) bytes; none if there are none yet. The error comes
// once all data is taken.
func (in *input) read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.fill()
	if len(in.data) == 0 {
		return 0, in.err
	}
	n := copy(p, in.data)
	in.data = in.data[n:]
	return n, nil
}

// wait waits until the input is ready.
func (in *input) wait(ctx context.Context) error {
	for !in.ready() {
		if err := in.wake.wait(ctx, never); err != nil {
			return err
		}
	}
	return nil
}

func (in *input) pollable(i *instance) *pollable {
	in.retain()
	return &pollable{i: i, in: in}
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// interrupt ends the read in progress, as far as the reader can be interrupted.
func (in *input) interrupt() {
	in.mu.Lock()
	done := in.reading
	in.mu.Unlock()
	if done == nil {
		return
	}
	if d, ok := in.r.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(past) == nil {
		<-done
		_ = d.SetReadDeadline(time.Time{})
		return
	}
	// Closing a file that cannot be waited for does not end its reads.
	if _, isFile := in.r.(*os.File); isFile {
		return
	}
	if c, ok := in.r.(io.Closer); ok {
		_ = c.Close()
		<-done
	}
}
