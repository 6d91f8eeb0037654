package host

import (
	"context"
	"errors"
	"fmt"
)

var errBusy = errors.New("cannot enter component instance: a call is in progress")

// enter begins a call. Each enter that succeeds is followed by its leave.
func (i *Instance) enter(ctx context.Context) (*callContext, error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.call != nil:
		return nil, errBusy
	case i.failed != nil:
		return nil, fmt.Errorf("cannot enter component instance: it failed earlier: %v", i.failed)
	case i.closed:
		return nil, fmt.Errorf("cannot enter component instance: it is %w", ErrClosed)
	}
	c := &callContext{Context: ctx, inst: i}
	i.call = c
	if ctx.Done() != nil {
		c.unwatch = context.AfterFunc(ctx, func() {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.interrupt(canceled(ctx), ctx.Err())
		})
	}
	i.meter.reset()
	i.meter.resume()
	return c, nil
}

func canceled(ctx context.Context) error {
	return fmt.Errorf("%w: %w", ErrCanceled, context.Cause(ctx))
}

// interrupt ends the call in progress: host functions by their context, which
// gets err, and the guest at its next loop or call. The lock is held.
func (i *Instance) interrupt(reason, err error) {
	if i.reason == nil {
		i.reason = reason
	}
	if i.call != nil {
		i.call.cancel(err)
	}
	for _, stop := range i.stops {
		stop.Set(1)
	}
}

// overLimit interrupts a guest that has computed too long, if it has not paused
// since.
func (i *Instance) overLimit(state int64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.meter.state.Load() != state {
		return false
	}
	i.interrupt(fmt.Errorf("%w of %v", ErrComputeLimit, i.guest.opts.ComputeLimit), context.DeadlineExceeded)
	return true
}

// leave ends a call, and says how it ended.
func (i *Instance) leave(c *callContext, err error) error {
	i.meter.pause()
	wasCanceled := c.unwatch != nil && !c.unwatch()
	i.mu.Lock()
	i.call = nil
	if i.reason == nil && wasCanceled {
		i.reason = canceled(c.Context)
	}
	switch {
	case i.reason != nil:
		err = i.interrupted(err)
	case err != nil:
		err = i.explain(err)
	}
	i.failed = err
	closed := i.closed
	i.mu.Unlock()
	if err != nil && i.binding.Instance != nil {
		i.binding.Instance.Poison(err)
	}
	if closed {
		_ = i.release(context.WithoutCancel(c.Context))
	}
	return err
}

// interrupted is the reason for the interruption, with the place where the guest
// was.
func (i *Instance) interrupted(err error) error {
	var t *TrapError
	if err != nil && errors.As(i.explain(err), &t) && t.Function != "" {
		return fmt.Errorf("%w (in %s)", i.reason, t.Function)
	}
	return i.reason
}

// callVoid calls an export that takes and gives nothing.
func (i *Instance) callVoid(ctx context.Context, name string) error {
	f := i.module.ExportedFunction(name)
	if d := f.Definition(); len(d.ParamTypes()) > 0 || len(d.ResultTypes()) > 0 {
		return fmt.Errorf("the export %s should take no parameters and give no result", name)
	}
	return f.CallWithStack(ctx, nil)
}
