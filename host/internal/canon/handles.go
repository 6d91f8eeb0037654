package canon

import "context"

// maxHandles is the longest handle table that the spec allows.
const maxHandles = 1<<28 - 1

// Handles is the handle table of one instance, for all its resource types: index
// 0 is never used, and the index freed last is given out first. (The order is
// the spec's, guests may rely on it.)
type Handles struct {
	entries []entry
	free    []uint32
	max     uint32
}

// An entry is one handle; an unused one has no resource.
type entry struct {
	res *Resource
	rep Rep
	// lends counts the calls that have this handle as a borrow.
	lends uint32
	own   bool
	// scope is the call that a borrow handle belongs to.
	scope *Call
}

// New adds an owning handle (the built-in resource.new).
func (h *Handles) New(r *Resource, rep Rep) (uint32, error) {
	return h.add(entry{res: r, rep: rep, own: true})
}

// Rep is the representation behind a handle (the built-in resource.rep).
func (h *Handles) Rep(r *Resource, index uint32) (Rep, error) {
	e, err := h.get(r, index)
	if err != nil {
		return Rep{}, err
	}
	return e.rep, nil
}

// Drop removes a handle; if it owned its resource, the destructor runs (the
// built-in resource.drop, without its may-leave check).
func (h *Handles) Drop(ctx context.Context, r *Resource, index uint32) error {
	e, err := h.get(r, index)
	if err != nil {
		return err
	}
	if e.lends != 0 {
		return trapf(textLent)
	}
	gone := h.remove(index)
	switch {
	case !gone.own:
		gone.scope.borrows--
	case r.Drop != nil:
		return r.Drop(ctx, gone.rep)
	}
	return nil
}

// Len is how many handles are in the table.
func (h *Handles) Len() int { return max(len(h.entries)-1, 0) - len(h.free) }

func (h *Handles) add(e entry) (uint32, error) {
	if n := len(h.free); n > 0 {
		index := h.free[n-1]
		h.free = h.free[:n-1]
		h.entries[index] = e
		return index, nil
	}
	if len(h.entries) == 0 {
		h.entries = append(h.entries, entry{})
	}
	index := uint32(len(h.entries))
	if index > h.max {
		return 0, trapf(textHandlesFull, h.max)
	}
	h.entries = append(h.entries, e)
	return index, nil
}

// get finds the handle of a resource of type r. The pointer is good until the
// next add.
func (h *Handles) get(r *Resource, index uint32) (*entry, error) {
	if uint64(index) >= uint64(len(h.entries)) || h.entries[index].res == nil {
		return nil, trapf(textUnknown, index)
	}
	e := &h.entries[index]
	if e.res != r {
		return nil, trapf(textWrongType, index, r.describe(), e.res.describeOther(r))
	}
	return e, nil
}

// remove takes a handle that get has found out of the table.
func (h *Handles) remove(index uint32) entry {
	e := h.entries[index]
	h.entries[index] = entry{}
	h.free = append(h.free, index)
	return e
}

// take removes an owning handle and gives what it owned (the spec's lift_own).
func (h *Handles) take(r *Resource, index uint32) (Rep, error) {
	e, err := h.get(r, index)
	switch {
	case err != nil:
		return Rep{}, err
	case e.lends != 0:
		return Rep{}, trapf(textLent)
	case !e.own:
		return Rep{}, trapf(textNotOwned, index)
	}
	return h.remove(index).rep, nil
}

// unlend takes back what a call had as a borrow. The table may have been closed
// during the call.
func (h *Handles) unlend(index uint32) {
	if uint64(index) < uint64(len(h.entries)) && h.entries[index].lends > 0 {
		h.entries[index].lends--
	}
}
