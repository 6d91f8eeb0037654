package canon

import (
	"fmt"
	"reflect"
	"unsafe"
)

// A plan is how the values of one function travel: its parameters and its result
// as parts of a Go frame.
type plan struct {
	params recordCodec
	// The parameters travel on the stack, in so many lanes, or in memory if
	// spillParams is set.
	paramLanes  int
	paramSize   uint64
	paramAlign  uint32
	spillParams bool
	// result is nil if the function returns nothing.
	result      codec
	resultOff   uintptr
	resultSize  uint64
	resultAlign uint32
	spillResult bool
	// needsMemory is false if no call ever looks at guest memory.
	needsMemory bool
}

// A place is a part of a frame: where it is, and what.
type place struct {
	off uintptr
	g   reflect.Type
}

// planOf plans a function whose parameters, and result if it has one, lie in
// these places.
func planOf(ft *FuncType, params []place, result place) (*plan, error) {
	if err := sameShape(ft, params, result); err != nil {
		return nil, err
	}
	k := newCompiler()
	p := &plan{params: recordCodec{slots: make([]slot, len(params))}}
	types := make([]*Type, len(params))
	for i, at := range params {
		t := ft.Params[i].Type
		c, err := k.in(paramPath(i, ft.Params[i].Name), t, at.g)
		if err != nil {
			return nil, err
		}
		n := len(t.layout.flat.types)
		p.params.slots[i] = slot{codec: c, goOff: at.off, lane: p.paramLanes, lanes: n}
		p.paramLanes += n
		p.needsMemory = p.needsMemory || t.layout.memory
		types[i] = t
	}
	if err := p.placeParams(TupleOf(types...)); err != nil {
		return nil, err
	}
	if ft.Result == nil {
		return p, nil
	}
	return p, p.planResult(k, ft, result)
}

func paramPath(i int, name string) string {
	if name == "" {
		return fmt.Sprintf("parameter %d", i)
	}
	return fmt.Sprintf("parameter %d (%s)", i, name)
}

func sameShape(ft *FuncType, params []place, result place) error {
	if len(params) != len(ft.Params) {
		return fmt.Errorf("the Go function has %d parameters, the WIT function %d", len(params), len(ft.Params))
	}
	if (result.g == unitType) != (ft.Result == nil) {
		return fmt.Errorf("the Go function and the WIT function do not both return a value")
	}
	return nil
}

// placeParams notes how the parameters lie in memory, as the tuple t.
func (p *plan) placeParams(t *Type) error {
	if t.Size() > MaxValueSize {
		return fmt.Errorf("parameters of %d bytes are larger than the limit of %d", t.Size(), MaxValueSize)
	}
	for i := range p.params.slots {
		p.params.slots[i].memOff = t.layout.offsets[i]
	}
	p.paramSize, p.paramAlign = t.Size(), t.Align()
	p.spillParams = t.layout.flat.long
	p.needsMemory = p.needsMemory || p.spillParams
	return nil
}

func (p *plan) planResult(k *compiler, ft *FuncType, at place) error {
	if ft.Result.HasBorrow() {
		return fmt.Errorf("the result %s holds a borrow, which cannot be returned", ft.Result)
	}
	c, err := k.in("result", ft.Result, at.g)
	p.result, p.resultOff = c, at.off
	p.resultSize, p.resultAlign = ft.Result.Size(), ft.Result.Align()
	p.spillResult = ft.spillsResult()
	p.needsMemory = p.needsMemory || p.spillResult || ft.Result.layout.memory
	return err
}

// liftParams reads the parameters of a call into a frame.
func (p *plan) liftParams(c *Call, stack []uint64, frame unsafe.Pointer) error {
	if !p.spillParams {
		return p.params.lift(c, stack, frame)
	}
	ptr := uint32(stack[0])
	if err := c.check(ptr, p.paramAlign, p.paramSize, c.say(areaParams, fusedArea)); err != nil {
		return err
	}
	return p.params.load(c, ptr, frame)
}

// returnArea is the memory that the guest set aside for a result that does not
// fit the stack.
func (p *plan) returnArea(c *Call, stack []uint64) (uint32, error) {
	if !p.spillResult {
		return 0, nil
	}
	at := p.paramLanes
	if p.spillParams {
		at = 1
	}
	ptr := uint32(stack[at])
	return ptr, c.check(ptr, p.resultAlign, p.resultSize, c.say(areaParams, fusedArea))
}

// lowerResult writes the result of a frame to the stack, or to the return area.
func (p *plan) lowerResult(c *Call, stack []uint64, area uint32, frame unsafe.Pointer) error {
	switch {
	case p.result == nil:
		return nil
	case p.spillResult:
		return p.result.store(c, area, unsafe.Add(frame, p.resultOff))
	default:
		return p.result.lower(c, stack, unsafe.Add(frame, p.resultOff))
	}
}

// lowerParams writes the parameters of a frame for a guest: to the stack, or to
// memory that the guest's realloc gives.
func (p *plan) lowerParams(c *Call, stack []uint64, frame unsafe.Pointer) error {
	if !p.spillParams {
		return p.params.lower(c, stack, frame)
	}
	ptr, err := c.realloc(0, 0, p.paramAlign, uint32(p.paramSize), c.say(areaRealloc, fusedArea))
	if err != nil {
		return err
	}
	stack[0] = uint64(ptr)
	return p.params.store(c, ptr, frame)
}

// liftResult reads the result of a guest.
func (p *plan) liftResult(c *Call, stack []uint64, dst unsafe.Pointer) error {
	switch {
	case p.result == nil:
		return nil
	case !p.spillResult:
		return p.result.lift(c, stack, dst)
	}
	ptr := uint32(stack[0])
	if err := c.check(ptr, p.resultAlign, p.resultSize, c.say(areaResult, fusedArea)); err != nil {
		return err
	}
	return p.result.load(c, ptr, dst)
}
