package canon

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHandleTable(t *testing.T) {
	ctx := context.Background()
	r := &Resource{Name: "r", Impl: NewInstance(nil, Limits{})}
	h := &NewInstance(nil, Limits{}).Handles
	for want := uint32(1); want <= 3; want++ {
		index, err := h.New(r, Rep{Guest: want * 100})
		require.NoError(t, err)
		assert.Equal(t, want, index, "indices count from 1")
	}
	for _, index := range []uint32{1, 3, 2} {
		require.NoError(t, h.Drop(ctx, r, index))
	}
	assert.Equal(t, 0, h.Len())
	for _, want := range []uint32{2, 3, 1, 4} {
		index, err := h.New(r, Rep{Guest: want})
		require.NoError(t, err)
		assert.Equal(t, want, index, "the one freed last comes first")
		rep, err := h.Rep(r, index)
		require.NoError(t, err)
		assert.Equal(t, want, rep.Guest)
	}
	assert.Equal(t, 4, h.Len())
}

func TestHandleTraps(t *testing.T) {
	ctx := context.Background()
	guest1 := &Resource{Name: "r1", Impl: NewInstance(nil, Limits{})}
	guest2 := &Resource{Name: "r2", Impl: guest1.Impl}
	host := &Resource{Name: "h"}
	h := &NewInstance(nil, Limits{}).Handles
	_, err := h.New(guest1, Rep{})
	require.NoError(t, err)
	_, err = h.New(host, Rep{})
	require.NoError(t, err)
	for _, index := range []uint32{0, 3, 0xffffffff} {
		want := trapf("unknown handle index %d", index)
		_, err := h.Rep(guest1, index)
		assert.Equal(t, want, err)
		assert.Equal(t, want, h.Drop(ctx, guest1, index))
		_, err = h.take(guest1, index)
		assert.Equal(t, want, err)
	}
	assert.EqualError(t, h.Drop(ctx, guest2, 1), "handle index 1 used with the wrong type, expected guest-defined resource but found a different guest-defined resource")
	assert.EqualError(t, h.Drop(ctx, host, 1), "handle index 1 used with the wrong type, expected host-defined resource but found guest-defined resource")
	assert.EqualError(t, h.Drop(ctx, guest1, 2), "handle index 2 used with the wrong type, expected guest-defined resource but found host-defined resource")
	require.NoError(t, h.Drop(ctx, guest1, 1))
	assert.EqualError(t, h.Drop(ctx, guest1, 1), "unknown handle index 1")
}

func TestHandleLimit(t *testing.T) {
	r := &Resource{}
	h := &NewInstance(nil, Limits{Handles: 2}).Handles
	for range 2 {
		_, err := h.New(r, Rep{})
		require.NoError(t, err)
	}
	_, err := h.New(r, Rep{})
	assert.EqualError(t, err, "cannot allocate another handle: 2 are in use")
	require.NoError(t, h.Drop(context.Background(), r, 1))
	_, err = h.New(r, Rep{})
	assert.NoError(t, err)
}

func TestLends(t *testing.T) {
	ctx := context.Background()
	b := newGuest(64).binding(UTF8)
	r := &Resource{Name: "r"}
	rt := &ResourceType{Name: "r", Fixed: r}
	index, err := b.Instance.Handles.New(r, Rep{Go: "x"})
	require.NoError(t, err)

	c, err := b.Instance.begin(ctx, b, true)
	require.NoError(t, err)
	for range 2 {
		rep, err := c.liftHandle(rt, false, index)
		require.NoError(t, err)
		assert.Equal(t, "x", rep.Go)
	}
	assert.EqualError(t, b.Instance.Handles.Drop(ctx, r, index), textLent)
	_, err = c.liftHandle(rt, true, index)
	assert.EqualError(t, err, textLent)
	c.end()
	rep, err := open(t, b).liftHandle(rt, true, index)
	require.NoError(t, err, "at the end of the call the handle is its owner's again")
	assert.Equal(t, "x", rep.Go)
}

func TestBorrowsOfACall(t *testing.T) {
	ctx := context.Background()
	b := newGuest(64).binding(UTF8)
	r := &Resource{Name: "r"}
	rt := &ResourceType{Name: "r", Fixed: r}
	c := open(t, b)
	index, err := c.lowerHandle(rt, false, Rep{Go: 1})
	require.NoError(t, err)
	assert.Equal(t, 1, c.borrows)
	_, err = c.liftHandle(rt, true, index)
	assert.EqualError(t, err, "handle index 1 is not an own resource")
	_, err = c.liftHandle(rt, false, index)
	require.NoError(t, err, "a borrow can be lent on")
	c.lent = c.lent[:0]
	b.Instance.Handles.entries[index].lends = 0
	require.NoError(t, b.Instance.Handles.Drop(ctx, r, index))
	assert.Equal(t, 0, c.borrows)

	own := &ResourceType{Name: "own", Slot: 0}
	b.Resources = []*Resource{{Name: "own", Impl: b.Instance}}
	index, err = c.lowerHandle(own, false, Rep{Guest: 77})
	require.NoError(t, err)
	assert.EqualValues(t, 77, index, "who defines a resource sees what it stands for")
	_, err = c.lowerHandle(&ResourceType{Name: "other", Slot: 1}, true, Rep{})
	assert.EqualError(t, err, "internal error: resource other is not bound")
}

func TestDestructors(t *testing.T) {
	ctx := context.Background()
	var dropped []any
	r := &Resource{Name: "r", Drop: func(_ context.Context, rep Rep) error {
		dropped = append(dropped, rep.Go)
		if rep.Go == "bad" {
			return errors.New("cannot drop it")
		}
		return nil
	}}
	guestOwn := &Resource{Name: "g", Impl: NewInstance(nil, Limits{}), Drop: func(context.Context, Rep) error {
		panic("the guest's destructor runs in a guest that is gone")
	}}
	inst := NewInstance(nil, Limits{})
	for _, v := range []any{"a", "b", "bad"} {
		_, err := inst.Handles.New(r, Rep{Go: v})
		require.NoError(t, err)
	}
	_, err := inst.Handles.New(guestOwn, Rep{})
	require.NoError(t, err)
	require.NoError(t, inst.Handles.Drop(ctx, r, 2))
	assert.Equal(t, []any{"b"}, dropped)
	assert.EqualError(t, inst.Close(ctx), "cannot drop it")
	assert.Equal(t, []any{"b", "a", "bad"}, dropped)
	assert.Equal(t, 0, inst.Handles.Len())
	assert.NoError(t, inst.Close(ctx))
}
