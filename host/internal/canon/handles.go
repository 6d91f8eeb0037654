package canon

import "context"

// Handles is the handle table of one instance, for all its resource types: index
// 0 is never used, and the index freed last is given out first.
type Handles struct{ max uint32 }

func newHandles(most uint32) Handles { return Handles{max: most} }

// New adds an owning handle (the built-in resource.new).
func (h *Handles) New(r *Resource, rep Rep) (uint32, error) { panic("not yet") }

// Rep is the representation behind a handle (the built-in resource.rep).
func (h *Handles) Rep(r *Resource, index uint32) (Rep, error) { panic("not yet") }

// Drop removes a handle; if it owned its resource, the destructor runs (the
// built-in resource.drop, without its may-leave check).
func (h *Handles) Drop(ctx context.Context, r *Resource, index uint32) error { panic("not yet") }

// Len is how many handles are in the table.
func (h *Handles) Len() int { panic("not yet") }
