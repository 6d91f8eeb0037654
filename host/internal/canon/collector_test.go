package canon

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is lifted lives as long as Go holds it: the collector sees every pointer
// that the codecs have written.
func TestLiftedValuesSurviveTheCollector(t *testing.T) {
	type entry struct {
		Name  string
		Maybe *string
		Parts []pairOfTexts
		Shape shapes
		Twice **string
	}
	typ, cd := codecFor[[]entry](t)
	dyn := dynamicCodec(t, typ)
	for _, n := range []int{1, fewElements, fewElements + 1, 200} {
		want := make([]entry, n)
		for i := range want {
			text := fmt.Sprint("text ", i)
			p := &text
			want[i] = entry{text, p, []pairOfTexts{{text, "b"}, {"c", text}}, shapes{Named: p}, &p}
		}
		g := newGuest(1 << 16)
		c := open(t, g.binding(UTF8))
		p, err := put(t, c, g, typ, cd, unsafe.Pointer(&want))
		require.NoError(t, err)
		var got []entry
		require.NoError(t, cd.load(c, p, unsafe.Pointer(&got)))
		var val Value
		require.NoError(t, dyn.load(c, p, unsafe.Pointer(&val)))
		clear(g.mem)
		for range 3 {
			runtime.GC()
			_ = make([]byte, 1<<20)
		}
		assert.Equal(t, want, got)
		assert.Equal(t, fmt.Sprintf(`"text %d"`, n-1), Format(Prim(KindString), val.At(typ, n-1).At(typ.elem, 0)))
	}
}

// One plan serves many instances at a time.
func TestPlansAreSharedByInstances(t *testing.T) {
	h := greet(t)
	type params struct{ S string }
	f, err := NewGuestFunc[params, string](nil)
	require.NoError(t, err)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			name := fmt.Sprint("guest ", n)
			g := newGuest(1 << 12)
			b := g.binding(Encoding(n % 3))
			e := &Export{Name: "echo", Binding: b, Core: core(func(ctx context.Context, stack []uint64) error {
				binary.LittleEndian.PutUint32(g.mem[32:], uint32(stack[0]))
				binary.LittleEndian.PutUint32(g.mem[36:], uint32(stack[1]))
				err := h.Call(ctx, b, name, []uint64{stack[0], stack[1], 1, 64})
				stack[0] = 32
				return err
			})}
			for range 200 {
				g.next, g.calls = 256, nil
				got, err := f.Call(context.Background(), e, params{name})
				if !assert.NoError(t, err) || !assert.Equal(t, name, got) {
					return
				}
			}
		})
	}
	all.Wait()
}
