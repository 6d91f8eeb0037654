package canon

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// An Export is one lifted function of one instance.
type Export struct {
	// Name is the function's name, for messages.
	Name    string
	Binding *Binding
	Core    CoreFunc
	// PostReturn is nil if the export has none.
	PostReturn CoreFunc
}

// A GuestFunc is the plan of a function that a guest exports. P is a struct
// whose fields are the parameters in their order; R is the result, or [Unit].
// It is immutable: one serves any number of instances.
type GuestFunc[P, R any] struct {
	ft   *FuncType
	plan *plan
	pool *sync.Pool
}

// guestFrame holds the values of one call.
type guestFrame[P, R any] struct {
	params P
	result R
}

// NewGuestFunc plans an export. A nil ft stands for the type that P and R
// themselves tell. The error names the first place where they differ.
func NewGuestFunc[P, R any](ft *FuncType) (*GuestFunc[P, R], error) {
	type frame = guestFrame[P, R]
	params := placesOf(reflect.TypeFor[P](), unsafe.Offsetof(frame{}.params))
	result := place{unsafe.Offsetof(frame{}.result), reflect.TypeFor[R]()}
	if ft == nil {
		derived, err := funcTypeOf(params, result, nil)
		if err != nil {
			return nil, err
		}
		ft = derived
	}
	p, err := planOf(ft, params, result)
	if err != nil {
		return nil, err
	}
	pool := &sync.Pool{New: func() any { return new(frame) }}
	return &GuestFunc[P, R]{ft: ft, plan: p, pool: pool}, nil
}

// Type is the function's component type.
func (g *GuestFunc[P, R]) Type() *FuncType { return g.ft }

// Call calls the guest from Go: it enters the instance, lowers the parameters,
// calls the core function, lifts the result, and calls post-return. Whatever
// goes wrong in the guest poisons the instance.
func (g *GuestFunc[P, R]) Call(ctx context.Context, e *Export, params P) (R, error) {
	frame := g.pool.Get().(*guestFrame[P, R])
	frame.params = params
	p := unsafe.Pointer(frame)
	err := e.call(ctx, nil, g.plan, p, unsafe.Pointer(&frame.result))
	result := frame.result
	*frame = guestFrame[P, R]{}
	g.pool.Put(frame)
	return result, err
}

// A DynamicExport is the plan of an export that is called with dynamic values.
type DynamicExport struct {
	ft   *FuncType
	plan *plan
}

// NewDynamicExport plans an export of type ft.
func NewDynamicExport(ft *FuncType) (*DynamicExport, error) {
	params, result := dynamicPlaces(ft)
	p, err := planOf(ft, params, result)
	if err != nil {
		return nil, err
	}
	return &DynamicExport{ft: ft, plan: p}, nil
}

// Type is the function's component type.
func (d *DynamicExport) Type() *FuncType { return d.ft }

// Call is like [GuestFunc.Call]; caller is the instance that calls, or nil if Go
// does.
func (d *DynamicExport) Call(ctx context.Context, e *Export, caller *Instance, args []Value, result *Value) error {
	if len(args) != len(d.ft.Params) {
		return fmt.Errorf("cannot call %s with %d arguments: it has %d parameters", e.Name, len(args), len(d.ft.Params))
	}
	return e.call(ctx, caller, d.plan, unsafe.Pointer(unsafe.SliceData(args)), unsafe.Pointer(result))
}

// call makes one call. The parameters are read from a frame, the result is
// written to zero memory.
func (e *Export) call(ctx context.Context, caller *Instance, p *plan, params, result unsafe.Pointer) error {
	inst := e.Binding.Instance
	if err := inst.Enter(caller); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	defer inst.Leave(caller)
	c, err := inst.begin(ctx, e.Binding, p.needsMemory)
	if err != nil {
		return err
	}
	defer c.end()
	if err := e.cross(c, p, params, result); err != nil {
		err = fmt.Errorf("%s: %w", e.Name, err)
		inst.Poison(err)
		return err
	}
	return nil
}

// cross carries the parameters over, runs the guest, and carries the result back.
func (e *Export) cross(c *Call, p *plan, params, result unsafe.Pointer) error {
	stack := c.lanes[:]
	if err := p.lowerParams(c, stack, params); err != nil {
		return err
	}
	if err := e.Core.CallWithStack(c.ctx, stack); err != nil {
		return err
	}
	// The result on the stack is handed to post-return as it is.
	raw := stack[0]
	if p.needsMemory && e.Binding.Memory != nil {
		c.mem = e.Binding.Memory.View()
	}
	if err := p.liftResult(c, stack, result); err != nil {
		return err
	}
	if c.borrows != 0 {
		return trapf(textBorrowsLeft)
	}
	if e.PostReturn == nil {
		return nil
	}
	stack[0] = raw
	return c.shut("post-return", e.PostReturn, stack)
}
