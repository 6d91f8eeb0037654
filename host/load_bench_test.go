package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/host"
)

// BenchmarkLoad compiles a guest anew, and takes it from the cache on the disk.
func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"runner", "js-runner"} {
		b.Run(name+"/cold", func(b *testing.B) {
			for range b.N {
				load(b, name, b.TempDir())
			}
		})
		b.Run(name+"/warm", func(b *testing.B) {
			dir := b.TempDir()
			load(b, name, dir)
			for b.Loop() {
				load(b, name, dir)
			}
		})
	}
}

// load loads a fixture in an engine of its own, as a new process would.
func load(b *testing.B, name, cache string) {
	wasm := fixtures.Wasm(b, name)
	engine, err := host.NewEngine(b.Context(), host.Config{CacheDir: cache})
	require.NoError(b, err)
	_, err = engine.Load(b.Context(), wasm, host.LoadOptions{Name: name})
	require.NoError(b, err)
	require.NoError(b, engine.Close(b.Context()))
}
