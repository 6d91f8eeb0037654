package component

import (
	"sync"
	"sync/atomic"
)

// registry finds the instance behind the number that glue passes to the
// functions of the canonical ABI. Reading takes no lock.
type registry struct {
	slots atomic.Pointer[[]atomic.Pointer[componentInstance]]
	mu    sync.Mutex
	free  []uint64
	next  uint64
}

// get is called on every crossing from a guest to the host.
func (r *registry) get(id uint64) *componentInstance { return (*r.slots.Load())[id].Load() }

func (r *registry) put(i *componentInstance) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var id uint64
	if n := len(r.free); n > 0 {
		id, r.free = r.free[n-1], r.free[:n-1]
	} else {
		id = r.next
		r.next++
	}
	slots := r.slots.Load()
	if slots == nil || id >= uint64(len(*slots)) {
		slots = r.grow(slots)
	}
	(*slots)[id].Store(i)
	return id
}

// grow makes a table twice as long. Numbers given out before are in the old
// one too, so a reader that still has it reads right.
func (r *registry) grow(old *[]atomic.Pointer[componentInstance]) *[]atomic.Pointer[componentInstance] {
	n := 16
	if old != nil {
		n = 2 * len(*old)
	}
	grown := make([]atomic.Pointer[componentInstance], n)
	if old != nil {
		for i := range *old {
			grown[i].Store((*old)[i].Load())
		}
	}
	r.slots.Store(&grown)
	return &grown
}

func (r *registry) drop(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	(*r.slots.Load())[id].Store(nil)
	r.free = append(r.free, id)
}
