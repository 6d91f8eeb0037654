package toolrun_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/toolrun"
)

// refusal answers every request with the same, and keeps the last one.
type refusal struct {
	last toolrun.Input
	text toolrun.Result
}

func (r *refusal) Run(_ context.Context, in toolrun.Input) toolrun.Result {
	r.last = in
	return r.text
}

func newRefusal() *refusal {
	summary := "cannot run rm: it is not allowed"
	return &refusal{text: toolrun.Result{Status: toolrun.Error, Summary: &summary, Metadata: []toolrun.Pair{{Key: "field", Value: "binary"}}}}
}

// start starts the runner fixture, a guest in Go, with this shell.
func start(t testing.TB, sh toolrun.Shell) *host.Instance {
	t.Helper()
	ctx := context.Background()
	cache, err := fixtures.CacheDir()
	require.NoError(t, err)
	e, err := host.NewEngine(ctx, host.Config{CacheDir: cache})
	require.NoError(t, err)
	g, err := e.Load(ctx, fixtures.Wasm(t, "runner"), host.LoadOptions{Name: "runner"})
	require.NoError(t, err)
	i, err := g.Instantiate(ctx, host.InstanceConfig{Plugins: []*host.Plugin{toolrun.Plugin(sh)}})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, i.Close(ctx))
		assert.NoError(t, e.Close(ctx))
	})
	return i
}

func TestGuestAsksTheShell(t *testing.T) {
	sh := newRefusal()
	i := start(t, sh)
	text, isErr, err := i.Handle(context.Background(), host.Task{ID: "tsk_1", Message: `{"binary":"rm"}`})
	require.NoError(t, err)
	assert.False(t, isErr)
	require.NotNil(t, sh.last.Data)
	assert.Equal(t, `{"binary":"rm"}`, *sh.last.Data)
	assert.Nil(t, sh.last.LogPath)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	assert.Equal(t, map[string]any{
		"status": "error", "summary": "cannot run rm: it is not allowed", "truncated": false,
		"metadata": map[string]any{"field": "binary"},
	}, got)
}

// A task with one refused request costs few allocations in the host.
func TestAllocationsOfOneTask(t *testing.T) {
	i := start(t, newRefusal())
	ctx := context.Background()
	task := host.Task{ID: "tsk_1", ContextID: "ctx_1", Message: `{"binary":"rm"}`}
	allocs := testing.AllocsPerRun(200, func() {
		if _, _, err := i.Handle(ctx, task); err != nil {
			t.Fatal(err)
		}
	})
	assert.LessOrEqual(t, allocs, 6.0)
}

func BenchmarkOneTask(b *testing.B) {
	i := start(b, newRefusal())
	ctx := context.Background()
	task := host.Task{ID: "tsk_1", ContextID: "ctx_1", Message: `{"binary":"rm"}`}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := i.Handle(ctx, task); err != nil {
			b.Fatal(err)
		}
	}
}
