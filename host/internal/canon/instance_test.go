package canon

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMayEnter(t *testing.T) {
	parent := NewInstance(nil, Limits{})
	a, b := NewInstance(parent, Limits{}), NewInstance(parent, Limits{})

	require.NoError(t, a.Enter(nil))
	assert.EqualError(t, a.Enter(nil), textCannotEnter, "who runs cannot be entered")
	assert.EqualError(t, b.Enter(nil), textCannotEnter, "nor can its sibling from outside: the parent runs")
	require.NoError(t, b.Enter(a), "but a sibling can call it")
	assert.EqualError(t, a.Enter(b), textCannotEnter, "and not be called back")
	assert.NoError(t, parent.Enter(b), "a child may call what its parent lifted")
	b.Leave(a)
	assert.NoError(t, b.Enter(a))
	b.Leave(a)
	a.Leave(nil)
	assert.NoError(t, b.Enter(nil))
	b.Leave(nil)
	assert.False(t, parent.active)
}

func TestPoison(t *testing.T) {
	parent := NewInstance(nil, Limits{})
	a, b := NewInstance(parent, Limits{}), NewInstance(parent, Limits{})
	a.Poison(errors.New("unreachable"))
	a.Poison(errors.New("a later one"))
	assert.EqualError(t, b.Poisoned(), "unreachable")
	assert.EqualError(t, b.Enter(nil), "cannot enter component instance: it trapped earlier: unreachable")
}

func TestMayLeave(t *testing.T) {
	inst := NewInstance(nil, Limits{})
	assert.NoError(t, inst.MayLeave("x"))
	inst.inside = "realloc"
	assert.EqualError(t, inst.MayLeave("resource.drop"), "cannot leave component instance: resource.drop called during realloc")
}

func TestCallsDoNotNestWithoutEnd(t *testing.T) {
	b := newGuest(64).binding(UTF8)
	for range maxCallDepth {
		_, err := b.Instance.begin(context.Background(), b, false)
		require.NoError(t, err)
	}
	_, err := b.Instance.begin(context.Background(), b, false)
	assert.EqualError(t, err, "calls nest deeper than 256")
}
