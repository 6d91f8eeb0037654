package canon

import (
	"context"
	"errors"
	"fmt"
)

// A Call is one crossing of the border of an instance: the memory it reads and
// writes, what it may still allocate, and the handles it has lent. It is used
// again by the next call of the same depth.
type Call struct {
	ctx  context.Context
	b    *Binding
	inst *Instance
	// mem is the guest's memory as it was after the guest last ran.
	mem    []byte
	budget int64
	// lent are the handles that this call has as borrows; they are the
	// caller's again at its end.
	lent []uint32
	// borrows counts the borrow handles that the guest got for this call and
	// has not dropped.
	borrows int
	// taken are Go's resources that the guest has given away in this call, for
	// the case that they never reach whom they were given to.
	taken []taken
	lanes [MaxFlatParams + 1]uint64
	args  [4]uint64
}

// end gives the call back to its instance.
func (c *Call) end() {
	for _, index := range c.lent {
		c.inst.Handles.unlend(index)
	}
	clear(c.taken)
	c.lent, c.taken = c.lent[:0], c.taken[:0]
	c.borrows = 0
	c.ctx, c.b, c.mem = nil, nil, nil
	c.inst.depth--
}

// A taken is a resource between two owners.
type taken struct {
	res *Resource
	rep Rep
}

// dropTaken ends the lives of the resources that were taken.
func (c *Call) dropTaken() error {
	var errs []error
	for _, t := range c.taken {
		errs = append(errs, t.res.Drop(c.ctx, t.rep))
	}
	return errors.Join(errs...)
}

// spend takes n bytes from what the call may make the host allocate.
func (c *Call) spend(n uint64) error {
	if n > uint64(c.budget) {
		return trapf(textBudget, c.inst.limits.CallBytes)
	}
	c.budget -= int64(n)
	return nil
}

// realloc calls the guest's allocator and checks what it returns.
func (c *Call) realloc(old, oldSize, align, size uint32, t areaTexts) (uint32, error) {
	f := c.b.Realloc
	if f == nil {
		return 0, trapf("the guest has no realloc function")
	}
	if err := c.guardRealloc(f); err != nil {
		return 0, err
	}
	c.args = [4]uint64{uint64(old), uint64(oldSize), uint64(align), uint64(size)}
	err := c.shut("realloc", f, c.args[:])
	c.inst.reallocs = c.inst.reallocs[:len(c.inst.reallocs)-1]
	if err != nil {
		return 0, err
	}
	if c.b.Memory != nil {
		// The guest may have grown its memory: what was seen before is stale.
		c.mem = c.b.Memory.View()
	}
	ptr := uint32(c.args[0])
	return ptr, c.check(ptr, align, uint64(size), t)
}

// guardRealloc refuses to call an allocator that is running: a function object
// has one stack. It happens only to a guest whose realloc calls an import that
// returns memory.
func (c *Call) guardRealloc(f CoreFunc) error {
	for _, running := range c.inst.reallocs {
		if running == f {
			return &Trap{Text: textCannotLeave, Detail: "an import that returns memory was called during realloc"}
		}
	}
	c.inst.reallocs = append(c.inst.reallocs, f)
	return nil
}

// shut calls a function of the guest that must not call out.
func (c *Call) shut(what string, f CoreFunc, stack []uint64) error {
	outer := c.inst.inside
	c.inst.inside = what
	err := f.CallWithStack(c.ctx, stack)
	c.inst.inside = outer
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// An areaTexts is what a trap says of an area of memory that is not aligned, or
// not in memory.
type areaTexts struct{ align, bounds string }

// The areas, as the host says it.
var (
	areaString  = areaTexts{textStringAlign, textStringRange}
	areaList    = areaTexts{textListAlign, textListRange}
	areaParams  = areaTexts{textPtrAlign, textPtrRange}
	areaResult  = areaTexts{textRetAlign, textPtrRange}
	areaRealloc = areaTexts{textReallocAlign, textReallocRange}
)

// The areas, as it is said of calls between components.
var (
	fusedString = areaTexts{textFusedAlign, textFusedStringRange}
	fusedList   = areaTexts{textFusedAlign, textFusedListRange}
	fusedArea   = areaTexts{textFusedAlign, textPtrRange}
)

// check tells whether size bytes at ptr are aligned and within memory.
func (c *Call) check(ptr, align uint32, size uint64, t areaTexts) error {
	if ptr&(align-1) != 0 {
		return &Trap{Text: t.align}
	}
	if uint64(ptr)+size > uint64(len(c.mem)) {
		return &Trap{Text: t.bounds}
	}
	return nil
}

// say chooses the text for this call.
func (c *Call) say(host, fused areaTexts) areaTexts {
	if c.b.Fused {
		return fused
	}
	return host
}

// resource is the run-time type that a handle type stands for in this call.
func (c *Call) resource(r *ResourceType) (*Resource, error) {
	if r.Fixed != nil {
		return r.Fixed, nil
	}
	if r.Slot < len(c.b.Resources) && c.b.Resources[r.Slot] != nil {
		return c.b.Resources[r.Slot], nil
	}
	return nil, fmt.Errorf("internal error: resource %s is not bound", r.Name)
}
