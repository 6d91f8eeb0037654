package host

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const defaultLimit = time.Minute

func TestHandle(t *testing.T) {
	ctx := context.Background()
	i := instantiate(t, load(t, handler(echo...).bytes(), LoadOptions{ComputeLimit: defaultLimit}), InstanceConfig{})
	for _, message := range []string{"hello", "", "日本語"} {
		text, isErr, err := i.Handle(ctx, Task{ID: "tsk_1", ContextID: "ctx_1", Message: message})
		require.NoError(t, err)
		assert.False(t, isErr)
		assert.Equal(t, message, text)
	}
}

func TestHandleGivesTheWholeTask(t *testing.T) {
	for name, p := range map[string][2]byte{"tsk_9": {0, 1}, "ctx_9": {2, 3}, "do it": {paramMessage, paramMessageLen}} {
		i := instantiate(t, load(t, handler(answer(1, get(p[0]), get(p[1]))...).bytes(), LoadOptions{}), InstanceConfig{})
		text, isErr, err := i.Handle(context.Background(), Task{ID: "tsk_9", ContextID: "ctx_9", Message: "do it"})
		require.NoError(t, err)
		assert.True(t, isErr, "the guest's own error")
		assert.Equal(t, name, text)
	}
	// Origin and trust, as one letter each: 'a' and the case's number.
	spell := func(param byte) []byte {
		return code(i32(64), get(param), i32('a'), []byte{0x6a, 0x3a, 0, 0}, answer(0, i32(64), i32(1)))
	}
	for param, want := range map[byte]string{4: "e", 5: "b"} {
		i := instantiate(t, load(t, handler(spell(param)...).bytes(), LoadOptions{}), InstanceConfig{})
		text, _, err := i.Handle(context.Background(), Task{Origin: 4, Trust: 1})
		require.NoError(t, err)
		assert.Equal(t, want, text)
	}
}

func TestHandleRefusesACaseThatIsNone(t *testing.T) {
	i := instantiate(t, load(t, handler(echo...).bytes(), LoadOptions{}), InstanceConfig{})
	_, _, err := i.Handle(context.Background(), Task{Origin: 9})
	assert.Error(t, err)
}

func TestManyInstancesAtOnce(t *testing.T) {
	g := load(t, handler(echo...).bytes(), LoadOptions{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			i, err := g.Instantiate(context.Background(), InstanceConfig{})
			if !assert.NoError(t, err) {
				return
			}
			for range 10 {
				text, _, err := i.Handle(context.Background(), Task{Message: "x"})
				assert.NoError(t, err)
				assert.Equal(t, "x", text)
			}
			assert.NoError(t, i.Close(context.Background()))
		})
	}
	wg.Wait()
}

func TestInstanceRunsOneCallAtATime(t *testing.T) {
	var inner error
	m := &module{pages: []byte{0, 1}}
	again := m.imp("test:host/calls", "again", ":")
	m.def(reallocExport, reallocSig, 1, bump...)
	m.def(handleExport, handleSig, 2, code([]byte{0x10, again}, echo)...)
	var i *Instance
	p := NewPlugin("test:host/calls", Proc0("again", func(ctx context.Context) error {
		_, _, inner = i.Handle(ctx, Task{})
		return nil
	}))
	i = instantiate(t, load(t, m.bytes(), LoadOptions{}), InstanceConfig{Plugins: []*Plugin{p}})
	text, _, err := i.Handle(context.Background(), Task{Message: "outer"})
	require.NoError(t, err)
	assert.Equal(t, "outer", text)
	assert.EqualError(t, inner, "cannot enter component instance: a call is in progress")
}

func TestClosedInstance(t *testing.T) {
	ctx := context.Background()
	g := load(t, handler(echo...).bytes(), LoadOptions{Name: "g"})
	i, err := g.Instantiate(ctx, InstanceConfig{})
	require.NoError(t, err)
	require.NoError(t, i.Close(ctx))
	require.NoError(t, i.Close(ctx))
	_, _, err = i.Handle(ctx, Task{})
	assert.ErrorIs(t, err, ErrClosed)
	require.NoError(t, g.Close(ctx))
	require.NoError(t, g.Close(ctx))
	_, err = g.Instantiate(ctx, InstanceConfig{})
	assert.EqualError(t, err, "cannot instantiate guest g: it is closed")
}

func TestClosedGuestServesItsInstances(t *testing.T) {
	ctx := context.Background()
	g := load(t, handler(echo...).bytes(), LoadOptions{})
	i := instantiate(t, g, InstanceConfig{})
	require.NoError(t, g.Close(ctx))
	text, _, err := i.Handle(ctx, Task{Message: "still here"})
	require.NoError(t, err)
	assert.Equal(t, "still here", text)
}

func TestClosedEngine(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t, Config{})
	g, err := e.Load(ctx, handler(echo...).bytes(), LoadOptions{})
	require.NoError(t, err)
	i := instantiate(t, g, InstanceConfig{})
	require.NoError(t, e.Close(ctx))
	_, _, err = i.Handle(ctx, Task{})
	assert.ErrorIs(t, err, ErrClosed)
	_, err = e.Load(ctx, handler(echo...).bytes(), LoadOptions{Name: "late"})
	assert.EqualError(t, err, "cannot load guest late: the engine is closed")
}
