package canon

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type manyFrame struct {
	P0, P1, P2, P3, P4, P5, P6, P7, P8 string
	Result                             Unit
}

func TestParametersInMemory(t *testing.T) {
	var got []string
	h, err := NewHostFunc("many", nil, nil, func(_ context.Context, _ any, f *manyFrame) error {
		got = []string{f.P0, f.P8}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, "(param i32)", h.Type().Lower().String())
	g := newGuest(256)
	words(g, 120, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 121, 2)
	copy(g.mem[120:], "abc")
	require.NoError(t, h.Call(context.Background(), g.binding(UTF8), nil, []uint64{16}))
	assert.Equal(t, []string{"a", "bc"}, got)
	assert.EqualError(t, h.Call(context.Background(), g.binding(UTF8), nil, []uint64{18}), "many: "+textPtrAlign)
	assert.EqualError(t, h.Call(context.Background(), g.binding(UTF8), nil, []uint64{188}), "many: "+textPtrRange)

	// The same from Go to a guest: the guest gets a block of 72 bytes.
	type params struct {
		P0, P1, P2, P3, P4, P5, P6, P7, P8 string
	}
	out, err := NewGuestFunc[params, Unit](nil)
	require.NoError(t, err)
	g = newGuest(256)
	e := &Export{Name: "many", Binding: g.binding(UTF8), Core: core(func(_ context.Context, stack []uint64) error {
		c := open(t, g.binding(UTF8))
		assert.Equal(t, [4]uint32{0, 0, 4, 72}, g.calls[0])
		ptr, n := c.loadPair(uint32(stack[0]) + 64)
		assert.Equal(t, "last", string(g.mem[ptr:ptr+n]))
		return nil
	})}
	_, err = out.Call(context.Background(), e, params{P0: "first", P8: "last"})
	require.NoError(t, err)
}

type handleParams struct {
	ID   string
	Kind color
}

func TestGuestFunc(t *testing.T) {
	f, err := NewGuestFunc[handleParams, Result[string, string]](nil)
	require.NoError(t, err)
	assert.Equal(t, "func(p0: string, p1: enum {red, green, blue}) -> result<string, string>", f.Type().String())
	assert.Equal(t, "(param i32 i32 i32) (result i32)", f.Type().Lift().String())

	g := newGuest(256)
	b := g.binding(UTF8)
	var steps []string
	e := &Export{
		Name:    "handle",
		Binding: b,
		Core: core(func(_ context.Context, stack []uint64) error {
			steps = append(steps, fmt.Sprint("handle ", string(g.mem[stack[0]:stack[0]+stack[1]]), stack[2]))
			words(g, 0, 120, 4)
			copy(g.mem[120:], "done")
			stack[0] = 16
			return nil
		}),
		PostReturn: core(func(_ context.Context, stack []uint64) error {
			steps = append(steps, fmt.Sprint("post ", stack[0], b.Instance.MayLeave("x")))
			clear(g.mem[120:])
			return nil
		}),
	}
	for range 2 {
		got, err := f.Call(context.Background(), e, handleParams{"tsk_1", 2})
		require.NoError(t, err)
		assert.Equal(t, Ok[string, string]("done"), got)
	}
	assert.Equal(t, "handle tsk_12", steps[0])
	assert.Equal(t, "post 16 cannot leave component instance: x called during post-return", steps[1])
	assert.Len(t, steps, 4)
	assert.NoError(t, b.Instance.MayLeave("x"))
}

func TestGuestFuncFailures(t *testing.T) {
	f, err := NewGuestFunc[handleParams, Result[string, string]](nil)
	require.NoError(t, err)
	broken := errors.New("wasm error: unreachable")
	for _, tc := range []struct {
		name string
		core func(context.Context, []uint64) error
		post func(context.Context, []uint64) error
		want string
	}{
		{"a trap", func(context.Context, []uint64) error { return broken }, nil, broken.Error()},
		{"a result that is not aligned", func(_ context.Context, s []uint64) error { s[0] = 18; return nil }, nil, textRetAlign},
		{"a result beyond the end", func(_ context.Context, s []uint64) error { s[0] = 252; return nil }, nil, textPtrRange},
		{"a trap in post-return", func(_ context.Context, s []uint64) error { s[0] = 16; return nil },
			func(context.Context, []uint64) error { return broken }, "post-return: " + broken.Error()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGuest(256)
			e := &Export{Name: "handle", Binding: g.binding(UTF8), Core: core(tc.core)}
			if tc.post != nil {
				e.PostReturn = core(tc.post)
			}
			_, err := f.Call(context.Background(), e, handleParams{})
			require.EqualError(t, err, "handle: "+tc.want)
			_, err = f.Call(context.Background(), e, handleParams{})
			assert.EqualError(t, err, "handle: cannot enter component instance: it trapped earlier: handle: "+tc.want)
			assert.Equal(t, 0, e.Binding.Instance.depth)
		})
	}
}

func TestNoReentry(t *testing.T) {
	type none struct{}
	run, err := NewGuestFunc[none, Unit](nil)
	require.NoError(t, err)
	g := newGuest(64)
	e := &Export{Name: "run", Binding: g.binding(UTF8)}
	e.Core = core(func(ctx context.Context, _ []uint64) error {
		_, err := run.Call(ctx, e, none{})
		assert.EqualError(t, err, "run: "+textCannotEnter)
		return nil
	})
	_, err = run.Call(context.Background(), e, none{})
	assert.NoError(t, err)
}

func TestBorrowThatIsKept(t *testing.T) {
	r := &ResourceType{Name: "r", Fixed: &Resource{Name: "r"}}
	d, err := NewDynamicExport(&FuncType{Params: []Param{{"self", BorrowOf(r)}}})
	require.NoError(t, err)
	g := newGuest(64)
	b := g.binding(UTF8)
	e := &Export{Name: "use", Binding: b, Core: core(func(ctx context.Context, stack []uint64) error {
		return b.Instance.Handles.Drop(ctx, r.Fixed, uint32(stack[0]))
	})}
	require.NoError(t, d.Call(context.Background(), e, nil, []Value{Handle(Rep{Go: 1})}, nil))
	e.Core = core(func(context.Context, []uint64) error { return nil })
	assert.EqualError(t, d.Call(context.Background(), e, nil, []Value{Handle(Rep{Go: 1})}, nil), "use: "+textBorrowsLeft)
}

// A call between two components: the first lowers to the second.
func TestComponentToComponent(t *testing.T) {
	ft := &FuncType{Params: []Param{{"s", Prim(KindString)}, {"n", OptionOf(Prim(KindU64))}}, Result: Prim(KindString)}
	callee := newGuest(256)
	caller := newGuest(256)
	cb, eb := caller.binding(UTF16), callee.binding(Latin1OrUTF16)
	cb.Fused, eb.Fused = true, true
	e := &Export{Name: "f", Binding: eb, Core: core(func(_ context.Context, stack []uint64) error {
		assert.Equal(t, []uint64{1, 5}, stack[2:4])
		assert.EqualValues(t, 2, stack[1])
		copy(callee.mem[16:], []byte{byte(stack[0]), 0, 0, 0, byte(stack[1]), 0, 0, 0})
		stack[0] = 16
		return nil
	})}
	d, err := NewDynamicExport(ft)
	require.NoError(t, err)
	h, err := NewDynamicFunc("f", ft, func(ctx context.Context, _ any, args []Value, result *Value) error {
		return d.Call(ctx, e, cb.Instance, args, result)
	})
	require.NoError(t, err)
	copy(caller.mem[100:], []byte{'h', 0, 0xe9, 0})
	require.NoError(t, h.Call(context.Background(), cb, nil, []uint64{100, 2, 1, 5, 32}))
	c := open(t, cb)
	ptr, n := c.loadPair(32)
	assert.EqualValues(t, 2, n)
	assert.Equal(t, []byte{'h', 0, 0xe9, 0}, caller.mem[ptr:ptr+2*n])
	err = d.Call(context.Background(), e, nil, nil, nil)
	assert.EqualError(t, err, "cannot call f with 0 arguments: it has 2 parameters")
}
