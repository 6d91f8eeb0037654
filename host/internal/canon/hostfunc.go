package canon

import "context"

// A HostFunc is a function that a guest imports and Go implements. It is
// immutable: one serves any number of instances.
type HostFunc struct {
	name string
	ft   *FuncType
}

// NewHostFunc plans a function of typed Go values. F is a struct whose fields
// are the parameters in their order and then, if there is one, the result. A nil
// ft stands for the type that F itself tells (see [TypeOf]). The error names the
// first place where ft and F differ.
func NewHostFunc[F any](name string, ft *FuncType, body func(ctx context.Context, state any, frame *F) error) (*HostFunc, error) {
	panic("not yet")
}

// NewDynamicFunc plans a function of dynamic values. The body gets one value a
// parameter, and sets result if the type has one.
func NewDynamicFunc(name string, ft *FuncType, body func(ctx context.Context, state any, args []Value, result *Value) error) (*HostFunc, error) {
	panic("not yet")
}

// Name is the function's name, for messages.
func (h *HostFunc) Name() string { return h.name }

// Type is the function's component type.
func (h *HostFunc) Type() *FuncType { return h.ft }

// Call serves one call of the guest: the parameters are on the stack, and the
// result is left there. An error is a trap, whether it is a [Trap] or the body's
// own.
func (h *HostFunc) Call(ctx context.Context, b *Binding, state any, stack []uint64) error {
	panic("not yet")
}
