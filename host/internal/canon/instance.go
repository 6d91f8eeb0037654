package canon

import "context"

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

// The limits that stand where none is set.
const (
	DefaultCallBytes = 128 << 20
	DefaultHandles   = 1 << 20
	maxHandles       = 1<<28 - 1
)

// An Instance is the state of one component instance (or of one core module
// that speaks the canonical ABI): its handles, and whether it may be entered and
// left. It is not safe for concurrent use, as the guest is not.
type Instance struct {
	// Handles is the instance's handle table.
	Handles Handles

	parent   *Instance
	limits   Limits
	active   bool
	mayLeave bool
	poison   error
	calls    []*Call
	depth    int
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
	return &Instance{parent: parent, limits: l, mayLeave: true, Handles: newHandles(l.Handles)}
}

// Enter marks the instance, and those of its ancestors that are not the
// caller's, as running. It fails if one of them runs already, or if a trap has
// poisoned the instance. The caller is nil when Go calls.
func (i *Instance) Enter(caller *Instance) error { panic("not yet") }

// Leave undoes Enter.
func (i *Instance) Leave(caller *Instance) { panic("not yet") }

// Poison makes every later Enter fail, naming cause.
func (i *Instance) Poison(cause error) { panic("not yet") }

// Poisoned is the cause given to Poison, or nil.
func (i *Instance) Poisoned() error { return i.poison }

// MayLeave fails with a trap while the instance must not call out: inside
// realloc and post-return. The built-ins that the spec guards so ask it first.
func (i *Instance) MayLeave() error { panic("not yet") }

// Close drops the handles that are left; the destructors of Go resources run.
func (i *Instance) Close(ctx context.Context) error { panic("not yet") }
