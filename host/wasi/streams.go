package wasi

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/murmur-capsule/murmur/host"
)

const (
	// maxRead is how much one call reads from a stream or a file.
	maxRead = 256 << 10
	// maxWrite is how much one call may write to a stream without waiting.
	maxWrite = 1 << 20
	// maxBlockingWrite is how much a call that writes and flushes takes.
	maxBlockingWrite = 4096
)

// A streamFailure is what a guest gets to know of a stream that failed.
type streamFailure struct{ code errorCode }

var (
	errorResource = host.NewResource[*streamFailure]("error", nil)

	errorPlugin = host.NewPlugin(named("wasi:io/error"), errorResource,
		host.Func1("[method]error.to-debug-string", func(_ context.Context, self host.Borrow[*streamFailure]) (string, error) {
			return self.Value.code.String(), nil
		}))
)

// A streamError is variant stream-error.
type streamError struct {
	LastOperationFailed *host.Own[*streamFailure]
	Closed              bool
}

// WITVariant says that exactly one field is set.
func (streamError) WITVariant() {}

// streamResult is what the functions of streams answer.
type streamResult[T any] = host.Result[T, streamError]

func closedStream[T any]() streamResult[T] { return host.Fail[T](streamError{Closed: true}) }

// A source is what a guest reads from a stream.
type source interface {
	// read reads up to len(p) bytes: none if there are none yet, io.EOF at the end.
	read(p []byte) (int, error)
	// wait waits until there is something to read, or the end.
	wait(ctx context.Context) error
	pollable(i *instance) *pollable
	// release ends the use of the source by one stream.
	release()
}

// An inputStream is a guest's way to read from a source.
type inputStream struct {
	i      *instance
	src    source
	failed bool
}

func (s *inputStream) drop() { s.src.release() }

// read reads up to n bytes, which are good until the next call.
func (s *inputStream) read(n uint64) ([]byte, *streamError) {
	if s.failed {
		return nil, &streamError{Closed: true}
	}
	p := s.i.buffer(int(min(n, maxRead)))
	got, err := s.src.read(p)
	if err == nil {
		return p[:got], nil
	}
	s.failed = true
	return nil, streamErrorOf(err)
}

// blockingRead waits for something to read first. To read nothing never waits.
func (s *inputStream) blockingRead(ctx context.Context, n uint64) ([]byte, *streamError, error) {
	if n > 0 && !s.failed {
		if err := s.src.wait(ctx); err != nil {
			return nil, nil, err
		}
	}
	p, failure := s.read(n)
	return p, failure, nil
}

// streamErrorOf is what a guest is told of a stream's error.
func streamErrorOf(err error) *streamError {
	if errors.Is(err, io.EOF) {
		return &streamError{Closed: true}
	}
	return &streamError{LastOperationFailed: &host.Own[*streamFailure]{Value: &streamFailure{codeOf(err)}}}
}

// answer makes a stream's result of what came of an operation.
func answer[T any](v T, failure *streamError, err error) (streamResult[T], error) {
	if failure != nil {
		return host.Fail[T](*failure), err
	}
	return host.Ok[T, streamError](v), err
}

// An outputStream is a guest's way to write to a sink. What is written is there
// when the call returns, so that there is never anything to flush.
type outputStream struct {
	i      *instance
	dst    sink
	failed bool
}

func (s *outputStream) drop() { s.dst.close() }

// write writes all of p. An error is one of the guest, or of its context.
func (s *outputStream) write(ctx context.Context, p []byte, limit int) (*streamError, error) {
	if len(p) > limit {
		return nil, fmt.Errorf("the guest wrote %d bytes to a stream, and can write %d at a time", len(p), limit)
	}
	if s.failed {
		return &streamError{Closed: true}, nil
	}
	err := s.dst.write(ctx, p)
	if err == nil {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	s.failed = true
	return streamErrorOf(err), nil
}

// permit is how much may be written.
func (s *outputStream) permit() streamResult[uint64] {
	if s.failed {
		return closedStream[uint64]()
	}
	return host.Ok[uint64, streamError](maxWrite)
}

// flushed tells that the stream is open.
func (s *outputStream) flushed() streamResult[host.Unit] {
	if s.failed {
		return closedStream[host.Unit]()
	}
	return host.Ok[host.Unit, streamError](host.Unit{})
}

// splice writes what is there to be read.
func (s *outputStream) splice(ctx context.Context, src *inputStream, n uint64) (streamResult[uint64], error) {
	if s.failed {
		return closedStream[uint64](), nil
	}
	p, failure := src.read(n)
	if failure != nil {
		return host.Fail[uint64](*failure), nil
	}
	failure, err := s.write(ctx, p, maxRead)
	return answer(uint64(len(p)), failure, err)
}
