package canon

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
