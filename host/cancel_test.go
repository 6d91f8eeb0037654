package host

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spinner is a guest that tells an import that it runs, and then loops for ever.
func spinner(t *testing.T, running func(ctx context.Context)) *Instance {
	t.Helper()
	m := &module{}
	imp := m.imp("test:host/calls", "running", ":")
	m.def(startExport, ":", 0, 0x10, imp, 0x03, 0x40, 0x0c, 0, 0x0b)
	p := NewPlugin("test:host/calls", Proc0("running", func(ctx context.Context) error {
		running(ctx)
		return nil
	}))
	return instantiate(t, load(t, m.bytes(), LoadOptions{}), InstanceConfig{Plugins: []*Plugin{p}})
}

func TestCancelWhileTheGuestComputes(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	i := spinner(t, func(context.Context) { cancel() })
	_, err := i.RunCommand(ctx)
	assert.ErrorIs(t, err, ErrCanceled)
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, ErrComputeLimit)
	_, err = i.RunCommand(context.Background())
	assert.ErrorContains(t, err, "cannot enter component instance: it failed earlier: the guest was cancelled")
}

func TestDeadlineWhileTheGuestComputes(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 20*time.Millisecond, errors.New("too slow for us"))
	defer cancel()
	_, err := spinner(t, func(context.Context) {}).RunCommand(ctx)
	assert.ErrorIs(t, err, ErrCanceled)
	assert.ErrorContains(t, err, "the guest was cancelled: too slow for us")
}

// TestCancelWhileTheHostWorks: the host function learns of it and returns by
// itself; the guest goes no further.
func TestCancelWhileTheHostWorks(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	returned := false
	i := spinner(t, func(ctx context.Context) {
		cancel()
		<-ctx.Done()
		returned = true
	})
	_, err := i.RunCommand(ctx)
	assert.ErrorIs(t, err, ErrCanceled)
	assert.True(t, returned)
}

func TestCloseWhileTheGuestComputes(t *testing.T) {
	running := make(chan struct{})
	i := spinner(t, func(context.Context) { close(running) })
	done := make(chan error)
	go func() {
		_, err := i.RunCommand(context.Background())
		done <- err
	}()
	<-running
	require.NoError(t, i.Close(context.Background()))
	err := <-done
	assert.ErrorIs(t, err, ErrCanceled)
	assert.ErrorIs(t, err, ErrClosed)
	assert.Empty(t, i.memory.all)
}

func TestCloseWhileTheHostWorks(t *testing.T) {
	var i *Instance
	i = spinner(t, func(ctx context.Context) {
		assert.NoError(t, ctx.Err())
		assert.NoError(t, i.Close(ctx), "a host function may close its own instance")
		<-ctx.Done()
		assert.ErrorIs(t, ctx.Err(), context.Canceled)
	})
	_, err := i.RunCommand(context.Background())
	assert.ErrorIs(t, err, ErrClosed)
}

func TestCancelledBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	i := instantiate(t, load(t, handler(echo...).bytes(), LoadOptions{}), InstanceConfig{})
	_, _, err := i.Handle(ctx, Task{})
	assert.ErrorIs(t, err, ErrCanceled)
	_, _, err = i.Handle(context.Background(), Task{})
	assert.NoError(t, err, "nothing has run: the instance is as it was")
	_, err = i.guest.Instantiate(ctx, InstanceConfig{})
	assert.ErrorIs(t, err, ErrCanceled)
}

// TestContextOfACall: contexts that a plugin derives end with the call's, without
// a goroutine for each.
func TestContextOfACall(t *testing.T) {
	type key struct{}
	outer, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, "outer"))
	why := errors.New("the user went home")
	i := spinner(t, func(ctx context.Context) {
		assert.Equal(t, "outer", ctx.Value(key{}))
		inner, stop := context.WithCancel(ctx)
		defer stop()
		called := make(chan struct{})
		context.AfterFunc(ctx, func() { close(called) })
		never := context.AfterFunc(ctx, func() { t.Error("it was stopped") })
		assert.True(t, never())
		assert.False(t, never())
		cancel(why)
		<-inner.Done()
		<-called
		assert.Equal(t, why, context.Cause(inner))
		late := make(chan struct{})
		assert.False(t, context.AfterFunc(ctx, func() { close(late) })())
		<-late
	})
	_, err := i.RunCommand(outer)
	assert.ErrorIs(t, err, why)
}

func TestContextIsMadeAfterTheCallEnded(t *testing.T) {
	var kept context.Context
	i := waiter(t, 0, func(ctx context.Context, _ *Instance) error { kept = ctx; return nil })
	_, _, err := i.Handle(context.Background(), Task{})
	require.NoError(t, err)
	assert.NoError(t, kept.Err(), "a plugin may go on with what the call began")
}
