package canon

import "context"

// A GuestFunc is the plan of a function that a guest exports. P is a struct
// whose fields are the parameters in their order; R is the result, or [Unit].
// It is immutable: one serves any number of instances.
type GuestFunc[P, R any] struct{ ft *FuncType }

// NewGuestFunc plans an export. A nil ft stands for the type that P and R
// themselves tell. The error names the first place where they differ.
func NewGuestFunc[P, R any](ft *FuncType) (*GuestFunc[P, R], error) { panic("not yet") }

// Type is the function's component type.
func (g *GuestFunc[P, R]) Type() *FuncType { return g.ft }

// An Export is one lifted function of one instance.
type Export struct {
	Binding *Binding
	Core    CoreFunc
	// PostReturn is nil if the export has none.
	PostReturn CoreFunc
}

// Call calls the guest: it enters the instance, lowers the parameters, calls the
// core function, lifts the result into *result, and calls post-return. Any error
// of the guest poisons the instance.
func (g *GuestFunc[P, R]) Call(ctx context.Context, e *Export, params *P, result *R) error {
	panic("not yet")
}

// A DynamicExport is the plan of an export that is called with dynamic values.
type DynamicExport struct{ ft *FuncType }

// NewDynamicExport plans an export of type ft.
func NewDynamicExport(ft *FuncType) (*DynamicExport, error) { panic("not yet") }

// Call is like [GuestFunc.Call]; caller is the instance that calls, or nil.
func (d *DynamicExport) Call(ctx context.Context, e *Export, caller *Instance, args []Value, result *Value) error {
	panic("not yet")
}
