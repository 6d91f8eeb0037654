package canon

import (
	"context"
	"errors"
	"fmt"
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
