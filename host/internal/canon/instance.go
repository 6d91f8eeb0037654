package canon

import (
	"context"
	"errors"
)

// Limits bound what one guest can make the host hold.
type Limits struct {
	// CallBytes is how many bytes one call may make the host allocate. Zero
	// stands for DefaultCallBytes.
	CallBytes int64
	// ValueBytes is the longest string or list, in bytes of guest memory. Zero
	// stands for MaxValueSize.
	ValueBytes uint32
	// Handles is how many handles the instance may hold. Zero stands for
	// DefaultHandles.
	Handles uint32
}

// The limits that stand where none is set, and how deep calls may nest.
const (
	DefaultCallBytes = 128 << 20
	DefaultHandles   = 1 << 20

	// maxCallDepth is far beyond what the may-enter rules let nest; it is there
	// so that a mistake in an embedding ends as a trap.
	maxCallDepth = 256
)

// An Instance is the state of one component instance (or of one core module
// that speaks the canonical ABI): its handles, and whether it may be entered and
// left. It is not safe for concurrent use, as the guest is not.
type Instance struct {
	// Handles is the instance's handle table.
	Handles Handles

	parent *Instance
	limits Limits
	// active is the inverse of the spec's may_enter.
	active bool
	// inside is the inverse of the spec's may_leave: what the guest is in while
	// it must not call out, or "".
	inside string
	poison error
	// calls are kept from call to call: one for each level of nesting.
	calls    []*Call
	depth    int
	reallocs []CoreFunc
}

// NewInstance makes an instance below parent, which is nil for an outermost one.
func NewInstance(parent *Instance, l Limits) *Instance {
	if l.CallBytes == 0 {
		l.CallBytes = DefaultCallBytes
	}
	if l.ValueBytes == 0 {
		l.ValueBytes = MaxValueSize
	}
	if l.Handles == 0 {
		l.Handles = DefaultHandles
	}
	return &Instance{parent: parent, limits: l, Handles: Handles{max: min(l.Handles, maxHandles)}}
}

// Enter marks the instance, and those of its ancestors that are not the
// caller's, as running. It fails if one of them runs already, or if a trap has
// poisoned the instance. The caller is nil when Go calls.
func (i *Instance) Enter(caller *Instance) error {
	if cause := i.Poisoned(); cause != nil {
		return &Trap{Text: textCannotEnter, Detail: "it trapped earlier: " + cause.Error()}
	}
	for e := i; e != nil && !e.holds(caller); e = e.parent {
		if e.active {
			return trapf(textCannotEnter)
		}
	}
	for e := i; e != nil && !e.holds(caller); e = e.parent {
		e.active = true
	}
	return nil
}

// Leave undoes Enter.
func (i *Instance) Leave(caller *Instance) {
	for e := i; e != nil && !e.holds(caller); e = e.parent {
		e.active = false
	}
}

// holds tells whether i is the other instance or one of its ancestors.
func (i *Instance) holds(other *Instance) bool {
	for ; other != nil; other = other.parent {
		if other == i {
			return true
		}
	}
	return false
}

// Poison makes every later Enter of the instance, and of all that share its
// outermost ancestor, fail with the cause. Only the first cause is kept.
func (i *Instance) Poison(cause error) {
	if r := i.root(); r.poison == nil {
		r.poison = cause
	}
}

// Poisoned is the cause that Poison kept, or nil.
func (i *Instance) Poisoned() error { return i.root().poison }

func (i *Instance) root() *Instance {
	for i.parent != nil {
		i = i.parent
	}
	return i
}

// MayLeave fails with a trap while the guest must not call out: inside realloc
// and post-return. The built-ins that the spec guards so ask it first, and name
// themselves for the message.
func (i *Instance) MayLeave(what string) error {
	if i.inside == "" {
		return nil
	}
	return &Trap{Text: textCannotLeave, Detail: what + " called during " + i.inside}
}

// begin takes the state of a new call. Every begin is followed by its end.
func (i *Instance) begin(ctx context.Context, b *Binding, needsMemory bool) (*Call, error) {
	if i.depth == len(i.calls) {
		if i.depth == maxCallDepth {
			return nil, trapf("calls nest deeper than %d", maxCallDepth)
		}
		i.calls = append(i.calls, &Call{inst: i})
	}
	c := i.calls[i.depth]
	i.depth++
	c.ctx, c.b, c.budget = ctx, b, i.limits.CallBytes
	if needsMemory && b.Memory != nil {
		c.mem = b.Memory.View()
	}
	return c, nil
}

// Close drops the handles that are left. The destructors of Go's resources run,
// those of the guest's do not: the guest is gone.
func (i *Instance) Close(ctx context.Context) error {
	var errs []error
	for index := range i.Handles.entries {
		e := i.Handles.entries[index]
		i.Handles.entries[index] = entry{}
		if e.own && e.res.Impl == nil && e.res.Drop != nil {
			errs = append(errs, e.res.Drop(ctx, e.rep))
		}
	}
	i.Handles = Handles{max: i.Handles.max}
	return errors.Join(errs...)
}
