package host

import (
	"context"
	"testing"
	"time"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
)

// FuzzComponent: whatever a file holds, it is refused, or runs within its limits.
func FuzzComponent(f *testing.F) {
	for _, name := range []string{"text-runner", "text-attacks", "text-plugged", "text-command", "c-component"} {
		f.Add(fixtures.Wasm(f, name))
	}
	ctx := context.Background()
	e := newEngine(f, Config{})
	f.Fuzz(func(t *testing.T, wasm []byte) {
		g, err := e.Load(ctx, wasm, LoadOptions{ComputeLimit: 100 * time.Millisecond, MemoryLimit: 1 << 20})
		if err != nil {
			return
		}
		defer g.Close(ctx)
		_, _ = g.Way()
		g.Services([]*Plugin{calls(double)})
		i, err := g.Instantiate(ctx, InstanceConfig{Plugins: []*Plugin{calls(double)}})
		if err != nil {
			return
		}
		defer i.Close(ctx)
		_, _, _ = i.Handle(ctx, Task{ID: "a", ContextID: "b", Message: "{}"})
	})
}
