package host_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/host"
)

// task is murmur:task/types' record task, as an embedder may write it.
type task struct {
	ID, ContextID string
	Origin, Trust uint8
	Message       string
}

type handleParams struct{ Task task }

func runner(t *testing.T) *host.Instance {
	t.Helper()
	ctx := context.Background()
	cache, err := fixtures.CacheDir()
	require.NoError(t, err)
	e, err := host.NewEngine(ctx, host.Config{CacheDir: cache})
	require.NoError(t, err)
	g, err := e.Load(ctx, fixtures.Wasm(t, "runner"), host.LoadOptions{Name: "runner"})
	require.NoError(t, err)
	i, err := g.Instantiate(ctx, host.InstanceConfig{})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, i.Close(ctx))
		assert.NoError(t, e.Close(ctx))
	})
	return i
}

func TestExport(t *testing.T) {
	handle := host.NewExport[handleParams, host.Result[string, string]]("murmur:task/handler@0.1.0", "handle")
	require.NoError(t, handle.Err())
	i := runner(t)
	const completion = 4
	for range 3 {
		got, err := handle.Call(context.Background(), i, handleParams{task{ID: "tsk_1", Origin: completion, Message: "naïve"}})
		require.NoError(t, err)
		assert.Equal(t, host.Ok[string, string]("naïve"), got)
	}
}

func TestExportsThatDoNotFit(t *testing.T) {
	ctx := context.Background()
	i := runner(t)
	type none struct{}
	_, err := host.NewExport[none, host.Unit]("murmur:task/handler@0.1.0", "run").Call(ctx, i, none{})
	assert.EqualError(t, err, "guest runner does not export murmur:task/handler@0.1.0#run")
	_, err = host.NewExport[none, host.Unit]("murmur:task/handler@0.1.0", "handle").Call(ctx, i, none{})
	assert.ErrorContains(t, err, "the export murmur:task/handler@0.1.0#handle has the type")
	bad := host.NewExport[none, map[string]int]("a:b/c", "d")
	assert.EqualError(t, bad.Err(), "cannot call a:b/c#d: cannot tell the WIT type of Go map[string]int: there is none for map[string]int")
	_, err = bad.Call(ctx, i, none{})
	assert.Equal(t, bad.Err(), err)
	_, _, err = i.Handle(ctx, host.Task{Origin: 4, Message: "still there"})
	assert.NoError(t, err)
}
