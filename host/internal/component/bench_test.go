package component

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

type (
	benchSum   struct{ A, B uint32 }
	benchText  struct{ Text string }
	benchBytes struct{ Data []byte }
	benchRow   struct {
		Name string
		N    uint32
	}
	benchRows struct{ Rows []benchRow }
)

// benchCall measures a typed call of an exported function.
func benchCall[P, R any](b *testing.B, name string, params P) {
	i, err := loadCase(b, newRuntime(b), "shapes.wast", 0).Instantiate(b.Context(), InstanceConfig{})
	require.NoError(b, err)
	f, ok := i.Func("", name)
	require.True(b, ok)
	e, err := f.Export()
	require.NoError(b, err)
	g, err := canon.NewGuestFunc[P, R](f.Type())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Call(context.Background(), e, params); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall_numbers(b *testing.B) { benchCall[benchSum, uint32](b, "sum", benchSum{1, 2}) }

func BenchmarkCall_string(b *testing.B) {
	benchCall[benchText, string](b, "echo", benchText{strings.Repeat("text ", 20)})
}

func BenchmarkCall_bytes1MiB(b *testing.B) {
	b.SetBytes(1 << 20)
	benchCall[benchBytes, uint32](b, "size", benchBytes{make([]byte, 1<<20)})
}

func BenchmarkCall_records100(b *testing.B) {
	rows := make([]benchRow, 100)
	for i := range rows {
		rows[i] = benchRow{"a name of a row", uint32(i)}
	}
	benchCall[benchRows, uint32](b, "count", benchRows{rows})
}

// BenchmarkCall_component measures a call from one component into another, and
// the resource built-ins on the way.
func BenchmarkCall_component(b *testing.B) {
	i, err := loadCase(b, newRuntime(b), "resources.wast", 0).Instantiate(b.Context(), InstanceConfig{})
	require.NoError(b, err)
	f, ok := i.Func("", "use")
	require.True(b, ok)
	e, err := f.Export()
	require.NoError(b, err)
	g, err := canon.NewGuestFunc[struct{ N uint32 }, uint32](f.Type())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Call(context.Background(), e, struct{ N uint32 }{4}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInstantiate(b *testing.B) {
	for name, at := range map[string]int{"shapes.wast": 0, "resources.wast": 0} {
		b.Run(strings.TrimSuffix(name, ".wast"), func(b *testing.B) {
			c := loadCase(b, newRuntime(b), name, at)
			b.ReportAllocs()
			for b.Loop() {
				i, err := c.Instantiate(context.Background(), InstanceConfig{})
				if err != nil {
					b.Fatal(err)
				}
				if err := i.Close(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	data := caseBinary(b, "resources.wast", 0)
	runtime := newRuntime(b)
	b.ReportAllocs()
	for b.Loop() {
		c, err := Load(context.Background(), runtime, data, Options{Prepare: checked})
		if err != nil {
			b.Fatal(err)
		}
		if err := c.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}
