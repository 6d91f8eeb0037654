package canon

import (
	"context"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A guest is a fake one: memory, and an allocator that hands it out in order.
type guest struct {
	mem  []byte
	next uint32
	// calls are the arguments of every realloc.
	calls [][4]uint32
	// lie, if set, is what realloc returns instead.
	lie func(args [4]uint32) (uint32, error)
}

func newGuest(size int) *guest { return &guest{mem: make([]byte, size), next: 8} }

func (g *guest) View() []byte { return g.mem }

// CallWithStack is the guest's realloc: blocks are 8 bytes apart, and keep what
// was in them.
func (g *guest) CallWithStack(_ context.Context, stack []uint64) error {
	args := [4]uint32{uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])}
	g.calls = append(g.calls, args)
	if g.lie != nil {
		ptr, err := g.lie(args)
		stack[0] = uint64(ptr)
		return err
	}
	ptr := (g.next + 7) &^ 7
	g.next = ptr + args[3]
	if need := int(g.next) + 64; need > len(g.mem) {
		// Growing moves the memory, as it may in a real guest.
		g.mem = append(make([]byte, 0, 2*need), g.mem...)[:2*need]
	}
	copy(g.mem[ptr:g.next], g.mem[args[0]:args[0]+min(args[1], args[3])])
	stack[0] = uint64(ptr)
	return nil
}

func (g *guest) binding(enc Encoding) *Binding {
	return &Binding{Instance: NewInstance(nil, Limits{}), Memory: g, Realloc: g, Encoding: enc}
}

// open begins a call by hand, for tests of single codecs.
func open(t testing.TB, b *Binding) *Call {
	t.Helper()
	c, err := b.Instance.begin(context.Background(), b, true)
	require.NoError(t, err)
	t.Cleanup(c.end)
	return c
}

// put stores a Go value in fresh guest memory and returns where.
func put(t testing.TB, c *Call, g *guest, typ *Type, cd codec, src unsafe.Pointer) (uint32, error) {
	t.Helper()
	p, err := c.realloc(0, 0, typ.Align(), uint32(typ.Size()), areaRealloc)
	require.NoError(t, err)
	for i := range g.mem[p:][:typ.Size()] {
		g.mem[int(p)+i] = 0xaa
	}
	return p, cd.store(c, p, src)
}

// core makes a core function of a Go one.
func core(f func(ctx context.Context, stack []uint64) error) CoreFunc { return &coreFunc{f} }

type coreFunc struct {
	f func(ctx context.Context, stack []uint64) error
}

func (c *coreFunc) CallWithStack(ctx context.Context, stack []uint64) error { return c.f(ctx, stack) }
