package cabi

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

func TestRealloc_alignedAndApart(t *testing.T) {
	defer Take().Release()
	Begin()
	type block struct {
		b    []byte
		fill byte
	}
	var blocks []block
	for i, tt := range []struct{ size, align uint32 }{
		{1, 1}, {3, 2}, {16, 8}, {0, 4}, {5, 1}, {1000, 8}, {100_000, 4}, {7, 1}, {1 << 20, 8}, {60_000, 2}, {60_000, 1},
	} {
		p := Realloc(nil, 0, tt.align, tt.size)
		require.NotNil(t, p)
		assert.Zero(t, uintptr(p)%uintptr(tt.align), "%d bytes aligned to %d", tt.size, tt.align)
		b := block{bytesAt(p, int(tt.size)), byte(i + 1)}
		for j := range b.b {
			b.b[j] = b.fill
		}
		blocks = append(blocks, b)
	}
	for _, b := range blocks {
		assert.Equal(t, len(b.b), bytes.Count(b.b, []byte{b.fill}), "block %d is still what it was", b.fill)
	}
}

func TestRealloc_keepsTheContents(t *testing.T) {
	defer Take().Release()
	Begin()
	p := Realloc(nil, 0, 1, 5)
	copy(bytesAt(p, 5), "hello")
	p = Realloc(p, 5, 1, 10)
	assert.Equal(t, "hello", string(bytesAt(p, 5)))
	p = Realloc(p, 10, 1, 2)
	assert.Equal(t, "he", string(bytesAt(p, 2)))
}

func TestRealloc_badAlignment(t *testing.T) {
	for _, align := range []uint32{0, 3, 6} {
		assert.Panics(t, func() { Realloc(nil, 0, align, 1) })
	}
}

// Realloc works even if nothing was set aside, since a host may call it at any
// time.
func TestRealloc_withoutBegin(t *testing.T) {
	Take().Release()
	Take().Release()
	spare = nil
	p := Realloc(nil, 0, 8, 100)
	assert.NotNil(t, p)
	assert.NotNil(t, Take())
	Begin()
	assert.NotNil(t, current)
}

// One call can begin while the results of another are still being read.
func TestArena_twoCallsAtOnce(t *testing.T) {
	Begin()
	copy(bytesAt(Realloc(nil, 0, 1, 3), 3), "one")
	first := Take()
	Begin()
	p := Realloc(nil, 0, 1, 3)
	copy(bytesAt(p, 3), "two")
	second := Take()
	assert.NotSame(t, first, second)
	assert.Equal(t, "one", string(first.block[:3]))
	assert.Equal(t, "two", string(bytesAt(p, 3)))
	first.Release()
	second.Release()
	Begin()
	assert.Zero(t, current.used)
}

// fresh sets this package back to how a guest begins.
func fresh(t *testing.T) {
	current, spare, want = nil, nil, arenaSize
	t.Cleanup(func() { current, spare, want = nil, nil, arenaSize })
}

// Once a call has needed much, no arena is smaller than that: neither a new one
// nor one that waits for the next call.
func TestArena_growsWithTheLargestCall(t *testing.T) {
	fresh(t)
	waiting := newArena()
	require.Len(t, waiting.block, arenaSize)
	Begin()
	Realloc(nil, 0, 1, 3*arenaSize)
	large := Take()
	current = waiting
	Begin()
	assert.Len(t, current.block, 4*arenaSize, "what waits is enlarged")
	large.Release()
	assert.Len(t, large.block, 4*arenaSize, "rounded up")
	Take()
	spare = nil
	Begin()
	assert.Len(t, current.block, 4*arenaSize, "what is new is as large")
}

// An arena that the host has filled is left alone.
func TestBegin_keepsWhatTheHostFilled(t *testing.T) {
	for _, size := range []uint32{5, arenaSize + 1} {
		fresh(t)
		Begin()
		p := Realloc(nil, 0, 1, size)
		want = 4 * arenaSize
		filled := current
		Begin()
		assert.Same(t, filled, Take(), "%d bytes", size)
		assert.NotNil(t, p)
		assert.Equal(t, size > arenaSize, len(filled.overflow) == 1)
	}
}

func TestRoundUp(t *testing.T) {
	for n, up := range map[int]int{0: 1, 1: 1, 2: 2, 3: 4, 64 << 10: 64 << 10, 64<<10 + 1: 128 << 10} {
		assert.Equal(t, up, roundUp(n), "%d", n)
	}
}

func TestArena_growsToWhatIsNeeded(t *testing.T) {
	fresh(t)
	a := newArena()
	a.alloc(1000, 1)
	for range 3 {
		a.alloc(arenaSize, 1)
	}
	require.Len(t, a.overflow, 3)
	a.measure()
	a.reset()
	assert.Empty(t, a.overflow)
	assert.GreaterOrEqual(t, len(a.block), 3*arenaSize+1000)
	a.alloc(1000, 1)
	for range 3 {
		a.alloc(arenaSize, 1)
	}
	assert.Empty(t, a.overflow)

	a.alloc(10<<20, 1)
	a.measure()
	a.reset()
	assert.Len(t, a.block, maxArenaSize)
}

func TestRealloc_allocatesNothing(t *testing.T) {
	allocs := testing.AllocsPerRun(100, func() {
		Begin()
		Realloc(nil, 0, 8, 16<<10)
		Realloc(nil, 0, 1, 100)
		Take().Release()
	})
	assert.Zero(t, allocs)
}
