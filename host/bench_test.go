package host

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The benchmarks set what this package adds beside wazero alone, which links the
// same guest, without a check of it, limits or the canonical ABI.

// bare is the same guest on wazero alone, its imports doing nothing.
func bare(b *testing.B, m *module) (wazero.Runtime, wazero.CompiledModule) {
	b.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	b.Cleanup(func() { require.NoError(b, r.Close(ctx)) })
	c, err := r.CompileModule(ctx, m.bytes())
	require.NoError(b, err)
	for _, f := range c.ImportedFunctions() {
		mod, name, _ := f.Import()
		_, err := r.NewHostModuleBuilder(mod).NewFunctionBuilder().
			WithGoModuleFunction(api.GoModuleFunc(func(context.Context, api.Module, []uint64) {}), f.ParamTypes(), f.ResultTypes()).
			Export(name).Instantiate(ctx)
		require.NoError(b, err)
	}
	return r, c
}

// beside runs the rival and ours in turn, and reports both and their ratio.
func beside(b *testing.B, rival, ours func()) {
	b.Helper()
	rival()
	ours()
	var was, is time.Duration
	for b.Loop() {
		start := time.Now()
		rival()
		middle := time.Now()
		ours()
		was, is = was+middle.Sub(start), is+time.Since(middle)
	}
	b.ReportMetric(float64(was.Nanoseconds())/float64(b.N), "rival-ns")
	b.ReportMetric(float64(is.Nanoseconds())/float64(b.N), "ours-ns")
	b.ReportMetric(float64(is)/float64(was), "ratio")
}

func benchInstance(b *testing.B, m *module, o LoadOptions, plugins ...*Plugin) *Instance {
	return instantiate(b, load(b, m.bytes(), o), InstanceConfig{Plugins: plugins})
}

var limits = map[string]time.Duration{"unlimited": 0, "limited": time.Minute}

// BenchmarkHandle: one task, beside a call of the same function with numbers.
func BenchmarkHandle(b *testing.B) {
	ctx := context.Background()
	for name, limit := range limits {
		b.Run(name, func(b *testing.B) {
			m := handler(echo...)
			r, c := bare(b, m)
			mod, err := r.InstantiateModule(ctx, c, wazero.NewModuleConfig())
			require.NoError(b, err)
			f, stack := mod.ExportedFunction(handleExport), make([]uint64, 8)
			// Its allocator has one page: a fresh instance before that is full.
			g := load(b, m.bytes(), LoadOptions{ComputeLimit: limit})
			i, left := instantiate(b, g, InstanceConfig{}), 2000
			beside(b, func() { _ = f.CallWithStack(ctx, stack) }, func() {
				if left--; left == 0 {
					i, left = instantiate(b, g, InstanceConfig{}), 2000
				}
				_, _, err := i.Handle(ctx, Task{ID: "t", ContextID: "c", Message: "m"})
				require.NoError(b, err)
			})
		})
	}
}

// BenchmarkImport: a thousand calls of an import that does nothing.
func BenchmarkImport(b *testing.B) {
	ctx := context.Background()
	for name, limit := range limits {
		b.Run(name, func(b *testing.B) {
			m := &module{}
			imp := m.imp("test:host/calls", "nothing", ":")
			m.def("go", ":", 1, code(i32(1000), []byte{0x21, 0, 0x03, 0x40, 0x10, imp, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b})...)
			r, c := bare(b, m)
			mod, err := r.InstantiateModule(ctx, c, wazero.NewModuleConfig())
			require.NoError(b, err)
			i := benchInstance(b, m, LoadOptions{ComputeLimit: limit},
				NewPlugin("test:host/calls", Proc0("nothing", func(context.Context) error { return nil })))
			f := mod.ExportedFunction("go")
			export := i.module.ExportedFunction("go")
			beside(b, func() { _ = f.CallWithStack(ctx, nil) }, func() {
				call, err := i.enter(ctx)
				require.NoError(b, err)
				require.NoError(b, i.leave(call, export.CallWithStack(call, nil)))
			})
		})
	}
}

// BenchmarkLoops: a million rounds of a loop of two instructions, and of calls.
func BenchmarkLoops(b *testing.B) {
	ctx := context.Background()
	guests := map[string][]byte{
		"loop":   {0x03, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b, 0x20, 0},
		"memory": {0x03, 0x40, 0x41, 0, 0x41, 0, 0x28, 2, 0, 0x20, 0, 0x6a, 0x36, 2, 0, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b, 0x20, 0},
		"calls": {0x20, 0, 0x41, 1, 0x4c, 0x04, 0x7f, 0x20, 0, 0x05,
			0x20, 0, 0x41, 1, 0x76, 0x10, 0, 0x20, 0, 0x41, 1, 0x76, 0x10, 0, 0x6a, 0x0b},
	}
	for name, body := range guests {
		b.Run(name, func(b *testing.B) {
			m := &module{pages: []byte{0, 1}}
			m.def("go", "i:i", 0, body...)
			r, c := bare(b, m)
			mod, err := r.InstantiateModule(ctx, c, wazero.NewModuleConfig())
			require.NoError(b, err)
			i := benchInstance(b, m, LoadOptions{})
			f, export := mod.ExportedFunction("go"), i.module.ExportedFunction("go")
			run := func(f api.Function) func() {
				return func() { require.NoError(b, f.CallWithStack(ctx, []uint64{1 << 20})) }
			}
			beside(b, run(f), run(export))
		})
	}
}

// BenchmarkInstantiate: an instance that is made and closed.
func BenchmarkInstantiate(b *testing.B) {
	ctx := context.Background()
	m := handler(echo...)
	m.pages = []byte{0, 16}
	r, c := bare(b, m)
	g := load(b, m.bytes(), LoadOptions{ComputeLimit: time.Minute})
	beside(b, func() {
		mod, err := r.InstantiateModule(ctx, c, wazero.NewModuleConfig().WithName(""))
		require.NoError(b, err)
		require.NoError(b, mod.Close(ctx))
	}, func() {
		i, err := g.Instantiate(ctx, InstanceConfig{})
		require.NoError(b, err)
		require.NoError(b, i.Close(ctx))
	})
}
