package wasi

import (
	"context"
	"fmt"
	"time"

	"github.com/murmur-capsule/murmur/host"
)

// maxPoll is how many pollables a guest may wait for at a time: looking at them
// is the host's work.
const maxPoll = 4096

// A pollable is an event that a guest can wait for: an instant, or data on an
// input. One without an input whose instant has come is always ready.
type pollable struct {
	i    *instance
	when instant
	in   *input
}

// always is a pollable that is ready.
func (i *instance) always() host.Own[*pollable] { return i.at(0) }

func (p *pollable) ready() bool {
	if p.in != nil {
		return p.in.ready()
	}
	return until(p.when) == 0
}

func (p *pollable) drop() {
	if p.in != nil {
		p.in.release()
	}
}

// A waker wakes the one call of an instance that may be waiting. What it gets
// while nobody waits wakes the next one for nothing, which looks and waits on.
type waker chan struct{}

func (w waker) signal() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// wait waits for a signal, or for an instant. The error is that of the context.
func (w waker) wait(ctx context.Context, t instant) error {
	timer := time.NewTimer(until(t))
	defer timer.Stop()
	select {
	case <-w:
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the wait was interrupted: %w", context.Cause(ctx))
	}
}

// poll waits until some of the pollables are ready, and tells which by their
// places. There is at least one.
func poll(ctx context.Context, all []host.Borrow[*pollable]) ([]uint32, error) {
	i := all[0].Value.i
	for {
		var ready []uint32
		first := never
		for n, p := range all {
			if p.Value.ready() {
				ready = append(ready, uint32(n))
			} else if p.Value.in == nil {
				first = min(first, p.Value.when)
			}
		}
		if ready != nil {
			return ready, nil
		}
		if err := i.wake.wait(ctx, first); err != nil {
			return nil, err
		}
	}
}

// never is an instant that does not come.
const never = ^instant(0)

var (
	pollableResource = host.NewResource("pollable", (*pollable).drop)

	pollPlugin = host.NewPlugin(named("wasi:io/poll"), host.DuringRealloc(pollableResource),
		host.DuringRealloc(host.Func1("[method]pollable.ready", func(_ context.Context, self host.Borrow[*pollable]) (bool, error) {
			return self.Value.ready(), nil
		})),
		host.DuringRealloc(host.Proc1("[method]pollable.block", func(ctx context.Context, self host.Borrow[*pollable]) error {
			_, err := poll(ctx, []host.Borrow[*pollable]{self})
			return err
		})),
		host.DuringRealloc(host.Func1("poll", func(ctx context.Context, in []host.Borrow[*pollable]) ([]uint32, error) {
			if len(in) == 0 || len(in) > maxPoll {
				return nil, fmt.Errorf("the guest polls %d events, and can poll from 1 to %d", len(in), maxPoll)
			}
			return poll(ctx, in)
		})),
	)
)
