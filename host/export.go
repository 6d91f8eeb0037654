package host

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// An Export is a function that guests export for a WIT interface, as Go calls it.
// P is a struct whose fields are the parameters in their order, R is the result,
// or [Unit]; they stand for WIT types as those of a [Plugin]'s functions do. One
// Export serves any number of instances.
type Export[P, R any] struct {
	iface, name string
	plan        *canon.GuestFunc[P, R]
	err         error
	last        atomic.Pointer[boundExport]
}

// NewExport describes the function of this name in the interface with this name,
// such as "wasi:cli/run@0.2.0"; "" is the guest itself. It never fails: what is wrong with P or R is told
// by [Export.Err], and by every call.
func NewExport[P, R any](iface, name string) *Export[P, R] {
	x := &Export[P, R]{iface: iface, name: name}
	x.plan, x.err = canon.NewGuestFunc[P, R](nil)
	if x.err != nil {
		x.err = fmt.Errorf("cannot call %s: %w", joinExport(iface, name), x.err)
	}
	return x
}

// Err is what is wrong with the types of the parameters or the result, or nil.
func (x *Export[P, R]) Err() error { return x.err }

// Call calls the function in an instance. The guest may export it for any version
// of the interface that is compatible. The errors are those of [Instance.Handle];
// one that says that the guest does not export the function, or in another shape,
// leaves the instance as it was.
func (x *Export[P, R]) Call(ctx context.Context, i *Instance, params P) (result R, err error) {
	if x.err != nil {
		return result, x.err
	}
	b := x.bind(i.guest)
	if b.err != nil {
		return result, b.err
	}
	c, err := i.enter(ctx)
	if err != nil {
		return result, err
	}
	e, err := i.export(b.name)
	if err != nil {
		return result, i.leave(c, setupError{err})
	}
	result, err = x.plan.Call(c, e, params)
	return result, i.leave(c, err)
}

// A boundExport is what an Export is in one guest.
type boundExport struct {
	guest *Guest
	name  string
	err   error
}

// bind finds and checks the guest's export. That is dear, and most calls are of
// the guest that the last one was of.
func (x *Export[P, R]) bind(g *Guest) *boundExport {
	if b := x.last.Load(); b != nil && b.guest == g {
		return b
	}
	b := &boundExport{guest: g, name: g.findExport(x.iface, x.name)}
	if b.name == "" {
		b.err = fmt.Errorf("guest %s does not export %s", g.name, joinExport(x.iface, x.name))
	} else {
		b.err = g.checkExport(b.name, x.plan.Type())
	}
	x.last.Store(b)
	return b
}
