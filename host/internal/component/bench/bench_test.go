// Package bench runs components on this host and on wazy, side by side. It is a
// module of its own, so that the product does not depend on wazy.
package bench

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/samyfodil/wazy"
	"github.com/samyfodil/wazy/component"
	"github.com/samyfodil/wazy/imports/wasip2"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/toolrun"
	"github.com/murmur-capsule/murmur/host/wasi"
)

var ctx = context.Background()

// beside runs wazy's side and ours in turn, and reports both, their ratio (below
// one we are faster) and their allocations.
func beside(b *testing.B, theirs, ours func()) {
	b.Helper()
	theirs()
	ours()
	var was, is time.Duration
	for b.Loop() {
		start := time.Now()
		theirs()
		middle := time.Now()
		ours()
		was, is = was+middle.Sub(start), is+time.Since(middle)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(was.Nanoseconds())/float64(b.N), "wazy-ns")
	b.ReportMetric(float64(is.Nanoseconds())/float64(b.N), "ours-ns")
	b.ReportMetric(float64(is)/float64(was), "x-wazy")
	b.ReportMetric(testing.AllocsPerRun(100, theirs), "wazy-allocs")
	b.ReportMetric(testing.AllocsPerRun(100, ours), "ours-allocs")
}

// many repeats a call that is too short to be timed alone.
func many(n int, f func()) func() {
	return func() {
		for range n {
			f()
		}
	}
}

type (
	none    struct{}
	numbers struct{ A, B uint32 }
	text    struct{ S string }
	bytes   struct{ B []byte }
	points  struct{ P []point }
	point   struct {
		X, Y uint32
		Name string
	}
)

var (
	add      = host.NewExport[numbers, uint32]("", "add")
	callBack = host.NewExport[numbers, uint32]("", "call-back")
	echo     = host.NewExport[text, string]("", "text")
	blob     = host.NewExport[bytes, []byte]("", "bytes")
	records  = host.NewExport[points, []point]("", "points")
)

func engine(b *testing.B) *host.Engine {
	b.Helper()
	cache, err := fixtures.CacheDir()
	require.NoError(b, err)
	e, err := host.NewEngine(ctx, host.Config{CacheDir: cache})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, e.Close(ctx)) })
	return e
}

func load(b *testing.B, wasm []byte) *host.Guest {
	b.Helper()
	g, err := engine(b).Load(ctx, wasm, host.LoadOptions{})
	require.NoError(b, err)
	return g
}

func instantiate(b *testing.B, g *host.Guest, plugins ...*host.Plugin) *host.Instance {
	b.Helper()
	i, err := g.Instantiate(ctx, host.InstanceConfig{Plugins: plugins})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, i.Close(ctx)) })
	return i
}

func runtimeOf(b *testing.B) wazy.Runtime {
	b.Helper()
	r := wazy.NewRuntime(ctx)
	b.Cleanup(func() { require.NoError(b, r.Close(ctx)) })
	return r
}

func rival(b *testing.B, wasm []byte, opts ...component.Option) *component.Instance {
	b.Helper()
	i, err := component.Instantiate(ctx, runtimeOf(b), wasm, opts...)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, i.Close(ctx)) })
	return i
}

func sum(_ context.Context, a, b uint32) (uint32, error) { return a + b, nil }

func tally() *host.Plugin { return host.NewPlugin("test:host/tally@0.1.0", host.Func2("add", sum)) }

func rivalTally() component.Option {
	u32 := component.PrimitiveDesc{Prim: "u32"}
	return component.WithImport("test:host/tally@0.1.0", "add", func(_ context.Context, args []component.Value) ([]component.Value, error) {
		return []component.Value{args[0].(uint32) + args[1].(uint32)}, nil
	}, []component.TypeDesc{u32, u32}, []component.TypeDesc{u32})
}

// BenchmarkShapes calls functions of a component that was written by hand: the
// guest does next to nothing, so what is measured is the way there and back.
func BenchmarkShapes(b *testing.B) {
	wasm := fixtures.Wasm(b, "text-shapes")
	ours, theirs := instantiate(b, load(b, wasm), tally()), rival(b, wasm, rivalTally())
	call := func(b *testing.B, name string, args ...component.Value) func() {
		return func() {
			if _, err := theirs.Call(ctx, name, args...); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("numbers", func(b *testing.B) {
		beside(b, many(100, call(b, "add", uint32(1), uint32(2))), many(100, func() { check(b)(add.Call(ctx, ours, numbers{1, 2})) }))
	})
	b.Run("back", func(b *testing.B) {
		beside(b, many(100, call(b, "call-back", uint32(1), uint32(2))), many(100, func() { check(b)(callBack.Call(ctx, ours, numbers{1, 2})) }))
	})
	s := strings.Repeat("naïve ", 10)
	b.Run("string", func(b *testing.B) {
		beside(b, many(100, call(b, "text", s)), many(100, func() { checkS(b)(echo.Call(ctx, ours, text{s})) }))
	})
	mib := make([]byte, 1<<20)
	b.Run("MiB", func(b *testing.B) {
		beside(b, call(b, "bytes", mib), func() { checkB(b)(blob.Call(ctx, ours, bytes{mib})) })
	})
	var mine []point
	var list []component.Value
	for n := range uint32(100) {
		mine = append(mine, point{n, n + 1, "somewhere"})
		list = append(list, []component.Value{n, n + 1, "somewhere"})
	}
	b.Run("records", func(b *testing.B) {
		beside(b, call(b, "points", list), func() { checkP(b)(records.Call(ctx, ours, points{mine})) })
	})
}

// check and its like end the benchmark at an error.
func checked[R any](b *testing.B) func(R, error) {
	return func(_ R, err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
}

func check(b *testing.B) func(uint32, error)   { return checked[uint32](b) }
func checkS(b *testing.B) func(string, error)  { return checked[string](b) }
func checkB(b *testing.B) func([]byte, error)  { return checked[[]byte](b) }
func checkP(b *testing.B) func([]point, error) { return checked[[]point](b) }

// A refusal is the shell of all runners here: it starts nothing.
type refusal struct{}

func (refusal) Run(context.Context, toolrun.Input) toolrun.Result {
	summary := "denied"
	return toolrun.Result{Status: toolrun.Error, Summary: &summary}
}

// rivalTool is refusal for wazy.
func rivalTool() component.Option {
	t := component.NewTypeTable()
	str := component.Prim("string")
	input := t.Record("data", t.Option(str), "log-path", t.Option(str))
	result := t.Record("status", t.Enum("passed", "failed", "error"), "summary", t.Option(str), "data", t.Option(str),
		"data-path", t.Option(str), "truncated", component.Prim("bool"), "metadata", t.List(t.Tuple(str, str)))
	refuse := func(context.Context, []component.Value) ([]component.Value, error) {
		return []component.Value{[]component.Value{uint32(2), "denied", nil, nil, false, []component.Value{}}}, nil
	}
	return component.WithImportCustom("murmur:tool/run@0.1.0", "run", refuse, t.Func([]component.TypeRef{input}, result), t.Resolver())
}

// system is what a guest has besides the tool: WASI, from us and from wazy.
func system(b *testing.B) ([]*host.Plugin, []component.Option) {
	b.Helper()
	plugins, err := wasi.Plugins(wasi.Config{})
	require.NoError(b, err)
	return plugins, wasip2.With(wasip2.Config{EnableHTTP: true})
}

// BenchmarkHandle gives the runner a task whose one command is refused.
func BenchmarkHandle(b *testing.B) {
	for _, form := range []string{"text-runner", "c-component", "go-component", "js-bare"} {
		b.Run(form, func(b *testing.B) {
			wasm := fixtures.Wasm(b, form)
			plugins, opts := system(b)
			ours := instantiate(b, load(b, wasm), append(plugins, toolrun.Plugin(refusal{}))...)
			theirs := rival(b, wasm, append(opts, rivalTool())...)
			task := []component.Value{"tsk_1", "ctx_1", uint32(0), uint32(0), "echo hi"}
			beside(b, func() {
				_, err := theirs.CallExport(ctx, "murmur:task/handler@0.1.0", "handle", task)
				if err != nil {
					b.Fatal(err)
				}
			}, func() {
				if _, _, err := ours.Handle(ctx, host.Task{ID: "tsk_1", ContextID: "ctx_1", Message: "echo hi"}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// BenchmarkInstantiate makes an instance of a component that is loaded, and closes
// it.
func BenchmarkInstantiate(b *testing.B) {
	for _, form := range []string{"text-runner", "c-component", "js-runner"} {
		b.Run(form, func(b *testing.B) {
			wasm := fixtures.Wasm(b, form)
			g, r := load(b, wasm), runtimeOf(b)
			cache := component.NewCompileCache()
			beside(b, func() {
				opts := append(wasip2.With(wasip2.Config{EnableHTTP: true}), rivalTool(), component.WithCompileCache(cache))
				i, err := component.Instantiate(ctx, r, wasm, opts...)
				require.NoError(b, err)
				require.NoError(b, i.Close(ctx))
			}, func() {
				plugins, err := wasi.Plugins(wasi.Config{})
				require.NoError(b, err)
				i, err := g.Instantiate(ctx, host.InstanceConfig{Plugins: append(plugins, toolrun.Plugin(refusal{}))})
				require.NoError(b, err)
				require.NoError(b, i.Close(ctx))
			})
		})
	}
}

// BenchmarkLoadWarm loads a guest that is in the cache on disk.
func BenchmarkLoadWarm(b *testing.B) {
	for _, form := range []string{"text-runner", "runner", "js-runner"} {
		b.Run(form, func(b *testing.B) {
			wasm, e := fixtures.Wasm(b, form), engine(b)
			for b.Loop() {
				g, err := e.Load(ctx, wasm, host.LoadOptions{})
				require.NoError(b, err)
				require.NoError(b, g.Close(ctx))
			}
		})
	}
}

// BenchmarkIdle tells what an instance takes that has answered once and waits: of
// Go's heap, and of the machine's memory.
func BenchmarkIdle(b *testing.B) {
	for _, form := range []string{"text-runner", "runner", "js-bare"} {
		b.Run(form, func(b *testing.B) {
			g := load(b, fixtures.Wasm(b, form))
			answered := func() {
				i := instantiate(b, g, toolrun.Plugin(refusal{}))
				_, _, err := i.Handle(ctx, host.Task{Message: "echo hi"})
				require.NoError(b, err)
			}
			answered() // what the first one makes for all
			const n = 10
			heap, resident := memory(b)
			for range n {
				answered()
			}
			heapAfter, residentAfter := memory(b)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric((heapAfter-heap)/n, "heap-KiB")
			b.ReportMetric((residentAfter-resident)/n, "resident-KiB")
		})
	}
}

// memory is what the process takes, in KiB, once what is not used is given back.
func memory(b *testing.B) (heap, resident float64) {
	b.Helper()
	for range 3 { // pools and finalizers need more than one
		debug.FreeOSMemory()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	statm, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	pages, err := strconv.ParseFloat(strings.Fields(string(statm))[1], 64)
	require.NoError(b, err)
	return float64(m.HeapAlloc) / 1024, pages * float64(os.Getpagesize()) / 1024
}
