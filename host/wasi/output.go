package wasi

import (
	"context"
	"io"
	"time"
)

// A sink takes what a guest writes to a stream.
type sink interface {
	// write writes all of p, or fails.
	write(ctx context.Context, p []byte) error
	// close ends the use of the sink by one stream.
	close()
}

// An output is a standard stream of a guest.
type output struct{ w io.Writer }

func newSink(w io.Writer) sink {
	if w == nil {
		w = io.Discard
	}
	return output{w}
}

// write ends with the context if the writer can be given a deadline.
func (o output) write(ctx context.Context, p []byte) error {
	if d, ok := o.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		defer interruptible(ctx, d.SetWriteDeadline)()
	}
	n, err := o.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (output) close() {}

// interruptible sets a deadline when the context ends, until the function that it
// returns is called.
func interruptible(ctx context.Context, set func(time.Time) error) func() {
	ran := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = set(past)
		close(ran)
	})
	return func() {
		if !stop() {
			<-ran
			_ = set(time.Time{})
		}
	}
}
