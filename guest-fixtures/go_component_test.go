package fixtures_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/toolrun"
	"github.com/murmur-capsule/murmur/host/wasi"
)

// A shell answers a command with a text.
type shell func(command string) string

func (s shell) Run(_ context.Context, in toolrun.Input) toolrun.Result {
	out := s(*in.Data)
	return toolrun.Result{Status: toolrun.Passed, Data: &out}
}

func load(t *testing.T, name string) *host.Guest {
	t.Helper()
	cache, err := fixtures.CacheDir()
	require.NoError(t, err)
	e, err := host.NewEngine(t.Context(), host.Config{CacheDir: cache})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, e.Close(context.Background())) })
	g, err := e.Load(t.Context(), fixtures.Wasm(t, name), host.LoadOptions{Name: name})
	require.NoError(t, err)
	return g
}

func instantiate(t *testing.T, g *host.Guest, s shell) *host.Instance {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	plugins, err := wasi.Plugins(wasi.Config{Workdir: root})
	require.NoError(t, err)
	i, err := g.Instantiate(t.Context(), host.InstanceConfig{Plugins: append(plugins, toolrun.Plugin(s)), Workdir: root})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, i.Close(context.Background()))
		assert.NoError(t, root.Close())
	})
	return i
}

// The host hands a Go guest texts of any size, both as a task and as what the
// shell answers, and each arrives as it was.
func TestGoRunners_largeTexts(t *testing.T) {
	for _, form := range []string{"runner", "go-component"} {
		t.Run(form, func(t *testing.T) {
			var asked, answer string
			i := instantiate(t, load(t, form), func(command string) string {
				asked = command
				return answer
			})
			for n := 1; n <= 1<<20; n *= 4 {
				message := `{"x":"` + strings.Repeat("x", n) + `"}`
				answer = strings.Repeat("ü", n/2)
				text, isErr, err := i.Handle(t.Context(), host.Task{ID: "tsk_1", Message: message})
				require.NoError(t, err)
				require.False(t, isErr)
				assert.True(t, asked == message, "a task of %d bytes", n)
				var result struct{ Data string }
				require.NoError(t, json.Unmarshal([]byte(text), &result))
				assert.True(t, result.Data == answer, "an answer of %d bytes", n)
			}
		})
	}
}

// Each instance of a Go component has an adapter and a heap of its own.
func TestGoComponent_manyInstances(t *testing.T) {
	g := load(t, "go-wasi-component")
	var wg sync.WaitGroup
	for range 4 {
		i := instantiate(t, g, nil)
		wg.Go(func() {
			for work, want := range map[string]string{
				"files":   "1048576 bytes, the same true",
				"folders": ". b b/two, none true",
				"random":  "different true",
			} {
				text, isErr, err := i.Handle(t.Context(), host.Task{ID: "tsk_1", Message: work})
				assert.NoError(t, err)
				assert.False(t, isErr)
				assert.Equal(t, want, text)
			}
		})
	}
	wg.Wait()
}

func TestGoComponent_manyCalls(t *testing.T) {
	i := instantiate(t, load(t, "go-component"), func(string) string { return "done" })
	for range 20_000 {
		text, isErr, err := i.Handle(t.Context(), host.Task{ID: "tsk_1", Message: "echo hi"})
		require.NoError(t, err)
		require.False(t, isErr)
		require.Contains(t, text, "done")
	}
}
