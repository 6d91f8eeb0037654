package host

import (
	"context"
	"fmt"

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
}

// NewExport describes the function of this name in the interface with this name,
// such as "wasi:cli/run@0.2.0". It never fails: what is wrong with P or R is told
// by [Export.Err], and by every call.
func NewExport[P, R any](iface, name string) *Export[P, R] {
	x := &Export[P, R]{iface: iface, name: name}
	x.plan, x.err = canon.NewGuestFunc[P, R](nil)
	if x.err != nil {
		x.err = fmt.Errorf("cannot call %s#%s: %w", iface, name, x.err)
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
	name := i.guest.findExport(x.iface, x.name)
	if name == "" {
		return result, fmt.Errorf("guest %s does not export %s#%s", i.guest.name, x.iface, x.name)
	}
	if err := i.guest.checkExport(name, coreType(x.plan.Type().Lift())); err != nil {
		return result, err
	}
	c, err := i.enter(ctx)
	if err != nil {
		return result, err
	}
	result, err = x.plan.Call(c, i.export(name), params)
	return result, i.leave(c, err)
}
