package canon

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type greetFrame struct {
	Name   string
	Times  uint32
	Result string
}

func greet(t testing.TB) *HostFunc {
	t.Helper()
	h, err := NewHostFunc("a:b/c#greet", nil, nil, func(_ context.Context, state any, f *greetFrame) error {
		if f.Name == "nobody" {
			return errors.New("nobody to greet")
		}
		f.Result = strings.Repeat(fmt.Sprint("hello ", f.Name, " from ", state, "; "), int(f.Times))
		return nil
	})
	require.NoError(t, err)
	return h
}

func TestHostFunc(t *testing.T) {
	h := greet(t)
	assert.Equal(t, "func(p0: string, p1: u32) -> string", h.Type().String())
	assert.Equal(t, "(param i32 i32 i32 i32)", h.Type().Lower().String())
	assert.Equal(t, "a:b/c#greet", h.Name())
	g := newGuest(256)
	g.next = 128
	copy(g.mem[100:], "you")
	b := g.binding(UTF8)
	for range 2 {
		require.NoError(t, h.Call(context.Background(), b, "me", []uint64{100, 3, 2, 32}))
		c := open(t, b)
		ptr, n := c.loadPair(32)
		assert.Equal(t, "hello you from me; hello you from me; ", string(g.mem[ptr:ptr+n]))
	}
}

func TestHostFuncTraps(t *testing.T) {
	h := greet(t)
	for _, tc := range []struct {
		name  string
		stack []uint64
		text  string
		want  string
	}{
		{"a bad parameter", []uint64{255, 3, 1, 32}, "", textStringRange},
		{"a return area that is not aligned", []uint64{100, 3, 1, 33}, "", textPtrAlign},
		{"a return area beyond the end", []uint64{100, 3, 1, 252}, "", textPtrRange},
		{"an error of Go", []uint64{100, 6, 1, 32}, "nobody", "nobody to greet"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := newGuest(256)
			copy(g.mem[100:], tc.text)
			err := h.Call(context.Background(), g.binding(UTF8), nil, tc.stack)
			assert.EqualError(t, err, "a:b/c#greet: "+tc.want)
			assert.Empty(t, g.calls)
		})
	}
}

func TestHostFuncMayNotBeCalledInsideRealloc(t *testing.T) {
	h := greet(t)
	g := newGuest(256)
	b := g.binding(UTF8)
	stack := []uint64{100, 0, 1, 32}
	var inner error
	try := h
	b.Realloc = core(func(ctx context.Context, stack []uint64) error {
		inner = try.Call(ctx, b, nil, []uint64{100, 0, 1, 40})
		return g.CallWithStack(ctx, stack)
	})
	require.NoError(t, h.Call(context.Background(), b, nil, stack))
	assert.EqualError(t, inner, "cannot leave component instance: a:b/c#greet called during realloc")

	// A lenient one may be called, though not if it needs the same allocator.
	try = h.Lenient()
	require.NoError(t, h.Call(context.Background(), b, nil, stack))
	assert.ErrorContains(t, inner, "cannot leave component instance: an import that returns memory was called during realloc")
	type clock struct{ Now uint64 }
	var err error
	try, err = NewHostFunc("clock", nil, nil, func(_ context.Context, _ any, f *clock) error {
		f.Now = 5
		return nil
	})
	require.NoError(t, err)
	try = try.Lenient()
	require.NoError(t, h.Call(context.Background(), b, nil, stack))
	assert.NoError(t, inner)
	assert.NoError(t, b.Instance.MayLeave("x"))
	assert.Equal(t, 0, b.Instance.depth)
}

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

func TestFunctionsThatDoNotFit(t *testing.T) {
	ft := &FuncType{Params: []Param{{"input", RecordOf(Field{"data", Prim(KindString)})}}, Result: Prim(KindU8)}
	type good struct {
		In     struct{ Data string }
		Result uint8
	}
	type badField struct {
		In     struct{ Data uint8 }
		Result uint8
	}
	type badResult struct {
		In     struct{ Data string }
		Result string
	}
	type noResult struct {
		In     struct{ Data string }
		Result Unit
	}
	type onlyResult struct{ Result uint8 }
	assert.NoError(t, planFor[good](ft))
	assert.EqualError(t, planFor[badField](ft), "parameter 0 (input).data: a Go uint8 cannot hold WIT string")
	assert.EqualError(t, planFor[badResult](ft), "result: a Go string cannot hold WIT u8")
	assert.EqualError(t, planFor[noResult](ft), "the Go function and the WIT function do not both return a value")
	assert.EqualError(t, planFor[onlyResult](ft), "the Go function has 0 parameters, the WIT function 1")
	borrow := &FuncType{Result: OptionOf(BorrowOf(&ResourceType{Name: "r"}))}
	_, err := NewDynamicExport(borrow)
	assert.EqualError(t, err, "the result option<borrow<r>> holds a borrow, which cannot be returned")
	big := &FuncType{}
	for range 3 {
		big.Params = append(big.Params, Param{"", FixedListOf(Prim(KindU8), 1<<27)})
	}
	_, err = NewDynamicExport(big)
	assert.EqualError(t, err, "parameters of 402653184 bytes are larger than the limit of 268435455")
}

func planFor[F any](ft *FuncType) error {
	_, err := NewHostFunc[F]("f", ft, nil, func(context.Context, any, *F) error { return nil })
	return err
}

type resourceFrame struct {
	Self   Borrow[*file]
	Other  Own[*file]
	Result Own[*file]
}

type file struct {
	name   string
	closed bool
}

func TestResourcesOfGo(t *testing.T) {
	res := &ResourceType{Name: "file", Fixed: &Resource{Name: "file", Drop: func(_ context.Context, r Rep) error {
		r.Go.(*file).closed = true
		return nil
	}}}
	h, err := NewHostFunc("swap", nil, Resources{reflect.TypeFor[*file](): res}, func(_ context.Context, _ any, f *resourceFrame) error {
		f.Result.Value = &file{name: f.Self.Value.name + f.Other.Value.name}
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, "func(p0: borrow<file>, p1: own<file>) -> own<file>", h.Type().String())
	b := newGuest(64).binding(UTF8)
	a, other := &file{name: "a"}, &file{name: "b"}
	for _, f := range []*file{a, other} {
		_, err := b.Instance.Handles.New(res.Fixed, Rep{Go: f})
		require.NoError(t, err)
	}
	ctx := context.Background()
	stack := []uint64{1, 2}
	require.NoError(t, h.Call(ctx, b, nil, stack))
	assert.EqualValues(t, 2, stack[0], "the index of the one that was given away is used again")
	rep, err := b.Instance.Handles.Rep(res.Fixed, 2)
	require.NoError(t, err)
	assert.Equal(t, "ab", rep.Go.(*file).name)
	assert.False(t, other.closed)

	drop := NewDropFunc("drop", res)
	assert.Equal(t, "(param i32)", drop.Type().Lower().String())
	require.NoError(t, drop.Call(ctx, b, nil, []uint64{1}))
	assert.True(t, a.closed)
	assert.EqualError(t, drop.Call(ctx, b, nil, []uint64{1}), "drop: unknown handle index 1")

	// Given away together with something that traps, it is not lost.
	assert.EqualError(t, takeTwo(t, res).Call(ctx, b, nil, []uint64{2, 9}), "two: unknown handle index 9")
	assert.True(t, rep.Go.(*file).closed)
}

type twoFrame struct {
	A, B   Own[*file]
	Result Unit
}

func takeTwo(t *testing.T, res *ResourceType) *HostFunc {
	h, err := NewHostFunc("two", nil, Resources{reflect.TypeFor[*file](): res}, func(context.Context, any, *twoFrame) error {
		panic("it was called with handles that are not there")
	})
	require.NoError(t, err)
	return h
}

func TestResourceOfAnotherGoType(t *testing.T) {
	// The WIT of a component says that both are resources, and binds the slot to
	// one with values of another Go type.
	ft := &FuncType{Params: []Param{{"a", OwnOf(&ResourceType{Name: "x"})}, {"b", OwnOf(&ResourceType{Name: "x"})}}}
	h, err := NewHostFunc("two", ft, nil, func(context.Context, any, *twoFrame) error { return nil })
	require.NoError(t, err)
	b := newGuest(64).binding(UTF8)
	b.Resources = []*Resource{{Name: "x"}}
	_, err = b.Instance.Handles.New(b.Resources[0], Rep{Go: "text"})
	require.NoError(t, err)
	err = h.Call(context.Background(), b, nil, []uint64{1, 1})
	assert.EqualError(t, err, "two: internal error: resource x is a Go string, not a *canon.file")
}

func TestCallsOfEachSortDoNotAllocate(t *testing.T) {
	ctx := context.Background()
	type sum struct {
		A, B   uint32
		Result uint32
	}
	add, err := NewHostFunc("add", nil, nil, func(_ context.Context, _ any, f *sum) error {
		f.Result = f.A + f.B
		return nil
	})
	require.NoError(t, err)
	b := newGuest(4096).binding(UTF8)
	stack := []uint64{1, 2}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = add.Call(ctx, b, nil, stack) }))

	tool := toolFunc(t)
	g := b.Memory.(*guest)
	g.calls = make([][4]uint32, 0, 16)
	stack = []uint64{0, 0, 0, 0, 0, 0, 1024}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		g.next, g.calls = 2048, g.calls[:0]
		_ = tool.Call(ctx, b, nil, stack)
	}))
}
