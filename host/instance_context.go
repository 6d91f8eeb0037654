package host

import (
	"context"
)

// A callContext is the context of one call of a guest. It leads a host function
// back to the instance that calls it, because linked modules are shared by all
// instances; and it ends when the call is interrupted, for whatever reason.
//
// Most calls never ask for its channel, so it is made when it is asked for.
type callContext struct {
	context.Context
	inst *Instance
	// unwatch ends the watch over the caller's context; nil if that cannot end.
	unwatch func() bool

	// Guarded by the instance's lock.
	err   error
	done  chan struct{}
	after map[*func()]struct{}
}

type instanceKey struct{}

// Value gives the instance, or what the caller's context has.
func (c *callContext) Value(key any) any {
	if key == (instanceKey{}) {
		return c.inst
	}
	return c.Context.Value(key)
}

// Done is closed when the call is interrupted.
func (c *callContext) Done() <-chan struct{} {
	c.inst.mu.Lock()
	defer c.inst.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err tells that the call was interrupted.
func (c *callContext) Err() error {
	c.inst.mu.Lock()
	defer c.inst.mu.Unlock()
	return c.err
}

// AfterFunc runs f when the call is interrupted. The context package looks for
// it, and needs no goroutine then for each context that a plugin derives.
func (c *callContext) AfterFunc(f func()) (stop func() bool) {
	c.inst.mu.Lock()
	defer c.inst.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.after == nil {
		c.after = map[*func()]struct{}{}
	}
	key := &f
	c.after[key] = struct{}{}
	return func() bool {
		c.inst.mu.Lock()
		defer c.inst.mu.Unlock()
		_, waiting := c.after[key]
		delete(c.after, key)
		return waiting
	}
}

// cancel ends the context. The instance's lock is held.
func (c *callContext) cancel(err error) {
	if c.err != nil {
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
	for f := range c.after {
		go (*f)()
	}
	c.after = nil
}

// instanceOf is the instance that a host function is called by.
func instanceOf(ctx context.Context) *Instance {
	if c, ok := ctx.(*callContext); ok {
		return c.inst
	}
	inst, _ := ctx.Value(instanceKey{}).(*Instance)
	return inst
}
