// Package cabi is the memory side of the canonical ABI for guests built by the
// standard Go toolchain: where the host puts the strings that it hands over.
//
// The host asks for that memory through the module's realloc export, in the
// middle of a call. Two things make this delicate in Go. The collector does not
// see a pointer that only the host holds, so every block must be reachable from
// here until the call that needed it is over. And the collector must not run
// inside realloc: it reads a clock, and the Component Model forbids a guest to
// call an import while the host allocates in it (CanonicalABI.md, may_leave).
// So blocks are cut from an arena that is set aside before the call. What is
// larger than all that came before still has to be allocated; the collector
// stays asleep, but if the heap grows the runtime reads a clock.
package cabi

import (
	"math/bits"
	"unsafe"
)

const (
	// arenaSize holds an ordinary tool result (two streams of 16 KiB and a
	// command line) and most task messages. What does not fit is allocated one
	// by one, and the arena is larger from then on.
	arenaSize = 64 << 10
	// maxArenaSize is how much memory an arena keeps between calls.
	maxArenaSize = 4 << 20
)

// An Arena holds the blocks that the host asked for during one call.
type Arena struct {
	block    []byte
	used     int
	overflow [][]byte
}

// want is how large arenas are by now.
var want = arenaSize

func newArena() *Arena {
	return &Arena{block: make([]byte, want)}
}

// measure remembers how much this call has needed.
func (a *Arena) measure() {
	need := a.used
	for _, extra := range a.overflow {
		need += len(extra)
	}
	want = max(want, min(roundUp(need), maxArenaSize))
}

// reset forgets all blocks, and makes room for as much as any call needed that
// was measured.
func (a *Arena) reset() {
	a.used, a.overflow = 0, nil
	a.fit()
}

// small says that another arena would serve better, and nothing is in this one.
func (a *Arena) small() bool {
	return len(a.block) < want && a.used == 0 && len(a.overflow) == 0
}

// fit makes an arena that nothing is in as large as it should be.
func (a *Arena) fit() {
	if len(a.block) < want {
		a.block = make([]byte, want)
	}
}

// roundUp returns the power of two that is not below n: needs that rise bit by
// bit make arenas grow a few times only.
func roundUp(n int) int {
	return 1 << bits.Len(uint(max(n-1, 0)))
}

// alloc returns size bytes whose address is a multiple of align, a power of
// two. It allocates only if the arena is full.
func (a *Arena) alloc(size, align int) unsafe.Pointer {
	p, used := cut(a.block, a.used, size, align)
	if p != nil {
		a.used = used
		return p
	}
	extra := make([]byte, size+align)
	a.overflow = append(a.overflow, extra)
	p, _ = cut(extra, 0, size, align)
	return p
}

// cut finds size aligned bytes in block at or after from, and tells where they
// end. It returns nil if block has no room for them.
func cut(block []byte, from, size, align int) (unsafe.Pointer, int) {
	base := uintptr(unsafe.Pointer(unsafe.SliceData(block)))
	mask := uintptr(align) - 1
	start := int((base+uintptr(from)+mask)&^mask - base)
	if start >= len(block) || size > len(block)-start {
		return nil, from
	}
	return unsafe.Pointer(&block[start]), start + size
}

// current serves realloc. It is nil only while the guest's own code runs; spare
// saves allocating another arena for each call.
var current, spare *Arena

func init() { Begin() }

// Begin makes sure that there is memory set aside. A guest calls it right
// before it calls an import that returns strings, and before it returns to the
// host: nothing may be allocated in between, since an allocation can switch to
// another goroutine, which may make calls of its own.
func Begin() {
	for current == nil || current.small() {
		a := current
		if current = nil; a == nil {
			a, spare = spare, nil
		}
		if a == nil {
			a = newArena()
		}
		a.fit()
		// The allocation may have let another goroutine in.
		if current == nil {
			current = a
		} else {
			spare = a
		}
	}
}

// Take hands over the arena that the host has filled, the first thing after a
// call. It does not allocate. What is in the arena stays valid until Release.
func Take() *Arena {
	a := current
	if a != nil {
		a.measure()
	}
	current = nil
	return a
}

// Release gives the arena back. Its blocks are overwritten from now on.
func (a *Arena) Release() {
	if a == nil {
		return
	}
	a.reset()
	spare = a
}

// Realloc serves the host: it returns size bytes at an address that is a
// multiple of align, with the first oldSize bytes of old in them. It panics if
// the request makes no sense.
func Realloc(old unsafe.Pointer, oldSize, align, size uint32) unsafe.Pointer {
	if align == 0 || align&(align-1) != 0 {
		panic("cabi: realloc with an alignment that is no power of two")
	}
	if current == nil {
		current = newArena()
	}
	p := current.alloc(int(size), int(align))
	if n := min(oldSize, size); old != nil && n > 0 {
		copy(unsafe.Slice((*byte)(p), n), unsafe.Slice((*byte)(old), n))
	}
	return p
}
