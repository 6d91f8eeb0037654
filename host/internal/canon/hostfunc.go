package canon

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"unsafe"
)

// A HostFunc is a function that a guest imports and Go implements. It is
// immutable: one serves any number of instances, at the same time.
type HostFunc struct {
	name    string
	ft      *FuncType
	plan    *plan
	serve   func(h *HostFunc, c *Call, state any, stack []uint64) error
	lenient bool
}

// NewHostFunc plans a function of typed Go values. F is a struct whose fields
// are the parameters in their order and then the result, a [Unit] if there is
// none. A nil ft stands for the type that F itself tells, by [TypeOf] and res. The
// error names the first place where ft and F differ.
func NewHostFunc[F any](name string, ft *FuncType, res Resources, body func(ctx context.Context, state any, frame *F) error) (*HostFunc, error) {
	places := placesOf(reflect.TypeFor[F](), 0)
	params, result := places[:len(places)-1], places[len(places)-1]
	if ft == nil {
		derived, err := funcTypeOf(params, result, res)
		if err != nil {
			return nil, err
		}
		ft = derived
	}
	p, err := planOf(ft, params, result)
	if err != nil {
		return nil, err
	}
	// A frame is taken from a pool, because what a codec writes to through a
	// pointer cannot stay on the stack.
	pool := sync.Pool{New: func() any { return new(F) }}
	serve := func(h *HostFunc, c *Call, state any, stack []uint64) error {
		frame := pool.Get().(*F)
		err := h.run(c, stack, unsafe.Pointer(frame), func(ctx context.Context) error { return body(ctx, state, frame) })
		*frame = *new(F)
		pool.Put(frame)
		return err
	}
	return &HostFunc{name: name, ft: ft, plan: p, serve: serve}, nil
}

// NewDynamicFunc plans a function of dynamic values. The body gets one value a
// parameter, and sets the result if the type has one.
func NewDynamicFunc(name string, ft *FuncType, body func(ctx context.Context, state any, args []Value, result *Value) error) (*HostFunc, error) {
	params, result := dynamicPlaces(ft)
	p, err := planOf(ft, params, result)
	if err != nil {
		return nil, err
	}
	n := len(params)
	pool := sync.Pool{New: func() any {
		frame := make([]Value, n+1)
		return &frame
	}}
	serve := func(h *HostFunc, c *Call, state any, stack []uint64) error {
		kept := pool.Get().(*[]Value)
		frame := *kept
		err := h.run(c, stack, unsafe.Pointer(&frame[0]), func(ctx context.Context) error {
			return body(ctx, state, frame[:n:n], &frame[n])
		})
		clear(frame)
		pool.Put(kept)
		return err
	}
	return &HostFunc{name: name, ft: ft, plan: p, serve: serve}, nil
}

// placesOf are the fields of a struct that begins at off.
func placesOf(g reflect.Type, off uintptr) []place {
	fields := fieldsOf(g)
	places := make([]place, len(fields))
	for i, f := range fields {
		places[i] = place{off + f.Offset, f.Type}
	}
	return places
}

// dynamicPlaces are those of a function's values in a slice, the result last.
func dynamicPlaces(ft *FuncType) (params []place, result place) {
	params = make([]place, len(ft.Params))
	for i := range params {
		params[i] = place{uintptr(i) * valueSize, valueType}
	}
	if ft.Result == nil {
		return params, place{0, unitType}
	}
	return params, place{uintptr(len(params)) * valueSize, valueType}
}

// funcTypeOf is the function type that Go types tell. The parameters have no
// names in Go, so they get numbers.
func funcTypeOf(params []place, result place, res Resources) (*FuncType, error) {
	ft := &FuncType{Params: make([]Param, len(params))}
	for i, at := range params {
		t, err := TypeOf(at.g, res)
		if err != nil {
			return nil, err
		}
		ft.Params[i] = Param{Name: "p" + strconv.Itoa(i), Type: t}
	}
	if result.g == unitType {
		return ft, nil
	}
	t, err := TypeOf(result.g, res)
	ft.Result = t
	return ft, err
}

// Name is the function's name, for messages.
func (h *HostFunc) Name() string { return h.name }

// Type is the function's component type.
func (h *HostFunc) Type() *FuncType { return h.ft }

// Lenient is the function as one that a guest may call even while it may not
// leave its instance: inside realloc. The spec forbids it; guests whose allocator
// wakes a garbage collector that reads the clock need it.
func (h *HostFunc) Lenient() *HostFunc {
	l := *h
	l.lenient = true
	return &l
}

// Call serves one call of the guest: the parameters are on the stack, and the
// result is left there. An error is a trap, whether it is a [Trap] or the body's
// own.
func (h *HostFunc) Call(ctx context.Context, b *Binding, state any, stack []uint64) error {
	if !h.lenient {
		if err := b.Instance.MayLeave(h.name); err != nil {
			return err
		}
	}
	c, err := b.Instance.begin(ctx, b, h.plan.needsMemory)
	if err != nil {
		return err
	}
	defer c.end()
	return h.serve(h, c, state, stack)
}

// run lifts the parameters into a frame, runs the body, and lowers the result.
func (h *HostFunc) run(c *Call, stack []uint64, frame unsafe.Pointer, body func(ctx context.Context) error) error {
	if err := h.plan.liftParams(c, stack, frame); err != nil {
		return h.at(errors.Join(err, c.dropTaken()))
	}
	area, err := h.plan.returnArea(c, stack)
	if err != nil {
		return h.at(err)
	}
	if err := body(c.ctx); err != nil {
		return h.at(err)
	}
	if h.plan.needsMemory && c.b.Memory != nil {
		// The body may have run the guest, and the guest may have grown.
		c.mem = c.b.Memory.View()
	}
	return h.at(h.plan.lowerResult(c, stack, area, frame))
}

// at says in which function an error arose.
func (h *HostFunc) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", h.name, err)
}

// NewDropFunc is the built-in resource.drop of a resource, as a function that a
// core module imports.
func NewDropFunc(name string, t *ResourceType) *HostFunc {
	ft := &FuncType{Params: []Param{{Name: "handle", Type: Prim(KindU32)}}}
	serve := func(h *HostFunc, c *Call, _ any, stack []uint64) error {
		r, err := c.resource(t)
		if err != nil {
			return h.at(err)
		}
		return h.at(c.inst.Handles.Drop(c.ctx, r, uint32(stack[0])))
	}
	return &HostFunc{name: name, ft: ft, plan: &plan{}, serve: serve, lenient: t.Fixed != nil && t.Fixed.Lenient}
}
