package bench

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	wazeroapi "github.com/tetratelabs/wazero/api"

	"github.com/samyfodil/wazy"
	wazyapi "github.com/samyfodil/wazy/api"
	"github.com/samyfodil/wazy/component"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/internal/precheck"
	"github.com/murmur-capsule/murmur/host/toolrun"
)

// BenchmarkEngines tells how much of a difference to wazy is the engine's. The
// call is that of BenchmarkHandle; beside it, the core module of the same
// component is called by hand: on wazy, on wazero, and on wazero with the checks
// that let the host interrupt it. All that is left then is the guest's own code.
//
// Of the ratios to wazy, x-engine is wazero's, x-checked is wazero's with the
// checks, and x-wazy that of the whole call, as in the other benchmarks. x-ours is
// what the whole call adds to x-checked: below one, our part is the faster one.
func BenchmarkEngines(b *testing.B) {
	wasm := fixtures.Wasm(b, "js-bare")
	core := coreModule(b, wasm)
	ours, theirs := instantiate(b, load(b, wasm), toolrun.Plugin(refusal{})), rival(b, wasm, rivalTool())
	task := []component.Value{"tsk_1", "ctx_1", uint32(0), uint32(0), "echo hi"}
	sides := []func(){
		func() { checkV(b)(theirs.CallExport(ctx, "murmur:task/handler@0.1.0", "handle", task)) },
		func() {
			text, _, err := ours.Handle(ctx, host.Task{ID: "tsk_1", ContextID: "ctx_1", Message: "echo hi"})
			checkS(b)(text, err)
		},
		onWazy(b, core).handle(b),
		onWazero(b, core).handle(b),
		onWazero(b, checkedModule(b, core)).handle(b),
	}
	spent := make([][]time.Duration, len(sides))
	for b.Loop() {
		for n, side := range sides {
			start := time.Now()
			side()
			spent[n] = append(spent[n], time.Since(start))
		}
	}
	// The median is deaf to what else the machine does.
	took := make([]float64, len(sides))
	for n, all := range spent {
		slices.Sort(all)
		took[n] = float64(all[len(all)/2].Nanoseconds())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(took[0], "wazy-ns")
	b.ReportMetric(took[1], "ours-ns")
	b.ReportMetric(took[1]/took[0], "x-wazy")
	b.ReportMetric(took[3]/took[2], "x-engine")
	b.ReportMetric(took[4]/took[2], "x-checked")
	b.ReportMetric(took[1]/took[0]/(took[4]/took[2]), "x-ours")
}

func checkV(b *testing.B) func([]component.Value, error) { return checked[[]component.Value](b) }

// coreModule is the first core module of a component.
func coreModule(b *testing.B, wasm []byte) []byte {
	b.Helper()
	const preamble, coreModuleSection = 8, 1
	for rest := wasm[preamble:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		require.Positive(b, n)
		content := rest[1+n:][:size]
		if rest[0] == coreModuleSection {
			return content
		}
		rest = rest[1+n+int(size):]
	}
	b.Fatal("the component has no core module")
	return nil
}

// checkedModule is what the host makes of a core module.
func checkedModule(b *testing.B, core []byte) []byte {
	b.Helper()
	m, err := precheck.Check(core, precheck.Limits{})
	require.NoError(b, err)
	return m.Rewrite(precheck.Rewrite{Control: true}).Bytes
}

// A bareGuest is a core module of a runner, without anything around it. The
// functions are those of the canonical ABI.
type bareGuest struct {
	realloc, run, post func(stack []uint64) error
	write              func(at uint32, data []byte) bool
}

// The names of what a runner imports and exports.
const (
	toolInterface = "murmur:tool/run@0.1.0"
	handleExport  = "murmur:task/handler@0.1.0#handle"
	postExport    = "cabi_post_" + handleExport
)

// handle is one task, whose command is refused.
func (g *bareGuest) handle(b *testing.B) func() {
	put := func(s string) (ptr, size uint64) {
		stack := [4]uint64{0, 0, 1, uint64(len(s))}
		require.NoError(b, g.realloc(stack[:]))
		require.True(b, g.write(uint32(stack[0]), []byte(s)))
		return stack[0], uint64(len(s))
	}
	return func() {
		var stack [8]uint64
		stack[0], stack[1] = put("tsk_1")
		stack[2], stack[3] = put("ctx_1")
		stack[6], stack[7] = put("echo hi")
		require.NoError(b, g.run(stack[:]))
		require.NoError(b, g.post(stack[:1]))
	}
}

// refused is a tool-result in a guest's memory: its status is error, and there is
// nothing else.
var refused = append([]byte{2}, make([]byte, 51)...)

// toolParams is how many parameters come before the place for the result.
const toolParams = 6

func onWazy(b *testing.B, core []byte) *bareGuest {
	b.Helper()
	r := runtimeOf(b)
	i32 := wazyapi.ValueTypeI32
	refuse := func(_ context.Context, m wazyapi.Module, stack []uint64) {
		m.Memory().Write(uint32(stack[toolParams]), refused)
	}
	_, err := r.NewHostModuleBuilder(toolInterface).NewFunctionBuilder().
		WithGoModuleFunction(wazyapi.GoModuleFunc(refuse), []wazyapi.ValueType{i32, i32, i32, i32, i32, i32, i32}, nil).
		Export("run").Instantiate(ctx)
	require.NoError(b, err)
	m, err := r.InstantiateWithConfig(ctx, core, wazy.NewModuleConfig())
	require.NoError(b, err)
	export := func(name string) func([]uint64) error {
		f := m.ExportedFunction(name)
		return func(stack []uint64) error { return f.CallWithStack(ctx, stack) }
	}
	return &bareGuest{export("cabi_realloc"), export(handleExport), export(postExport), m.Memory().Write}
}

func onWazero(b *testing.B, core []byte) *bareGuest {
	b.Helper()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(bareCache(b)))
	b.Cleanup(func() { require.NoError(b, r.Close(ctx)) })
	i32 := wazeroapi.ValueTypeI32
	refuse := func(_ context.Context, m wazeroapi.Module, stack []uint64) {
		m.Memory().Write(uint32(stack[toolParams]), refused)
	}
	_, err := r.NewHostModuleBuilder(toolInterface).NewFunctionBuilder().
		WithGoModuleFunction(wazeroapi.GoModuleFunc(refuse), []wazeroapi.ValueType{i32, i32, i32, i32, i32, i32, i32}, nil).
		Export("run").Instantiate(ctx)
	require.NoError(b, err)
	m, err := r.InstantiateWithConfig(ctx, core, wazero.NewModuleConfig())
	require.NoError(b, err)
	export := func(name string) func([]uint64) error {
		f := m.ExportedFunction(name)
		return func(stack []uint64) error { return f.CallWithStack(ctx, stack) }
	}
	return &bareGuest{export("cabi_realloc"), export(handleExport), export(postExport), m.Memory().Write}
}

// bareCache keeps what wazero compiles, which takes ten seconds and more.
func bareCache(b *testing.B) wazero.CompilationCache {
	b.Helper()
	dir, err := fixtures.CacheDir()
	require.NoError(b, err)
	dir = filepath.Join(filepath.Dir(dir), "bench")
	require.NoError(b, os.MkdirAll(dir, 0o700))
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, cache.Close(ctx)) })
	return cache
}
