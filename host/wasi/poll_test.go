package wasi

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/host"
)

func borrowed(all ...*pollable) []host.Borrow[*pollable] {
	out := make([]host.Borrow[*pollable], len(all))
	for n, p := range all {
		out[n].Value = p
	}
	return out
}

func TestPoll(t *testing.T) {
	i, err := newInstance(Config{Stdin: make(slowReader)})
	require.NoError(t, err)
	ctx := context.Background()
	always, never := i.always().Value, i.at(never).Value
	soon := i.at(after(now(), uint64(time.Millisecond))).Value

	ready, err := poll(ctx, borrowed(never, always, soon, always))
	require.NoError(t, err)
	assert.Subset(t, ready, []uint32{1, 3})
	ready, err = poll(ctx, borrowed(never, soon, soon))
	require.NoError(t, err)
	assert.Equal(t, []uint32{1, 2}, ready)
	assert.True(t, soon.ready())
	assert.False(t, never.ready())
}

func TestPollIsInterrupted(t *testing.T) {
	i, err := newInstance(Config{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(assert.AnError)
	_, err = poll(ctx, borrowed(i.at(never).Value))
	assert.ErrorIs(t, err, assert.AnError)
	ready, err := poll(ctx, borrowed(i.always().Value))
	assert.NoError(t, err, "what is ready needs no wait")
	assert.Len(t, ready, 1)
}

// TestWakerThatWasSignalled: a signal from before the wait wakes it once, and is
// no event.
func TestWakerThatWasSignalled(t *testing.T) {
	i, err := newInstance(Config{})
	require.NoError(t, err)
	i.wake.signal()
	i.wake.signal()
	soon := i.at(after(now(), uint64(time.Millisecond))).Value
	_, err = poll(context.Background(), borrowed(soon))
	require.NoError(t, err)
	assert.True(t, soon.ready())
}

func TestInstants(t *testing.T) {
	assert.Equal(t, instant(math.MaxUint64), after(5, math.MaxUint64))
	assert.Equal(t, instant(7), after(5, 2))
	assert.Zero(t, until(0))
	assert.Equal(t, time.Duration(math.MaxInt64), until(math.MaxUint64))
	first := now()
	assert.Greater(t, first, uint64(time.Hour)-1, "a guest may reckon back")
	assert.GreaterOrEqual(t, now(), first)
	assert.Equal(t, datetime{1, 5}, datetimeOf(time.Unix(1, 5)))
	assert.Equal(t, datetime{0, 0}, datetimeOf(time.Unix(-7, 0)))
}
