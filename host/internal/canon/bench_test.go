package canon

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// The shapes of murmur:tool/run, as a plugin has them.
type (
	toolInput  struct{ Data, LogPath *string }
	toolResult struct {
		Status                  toolStatus
		Summary, Data, DataPath *string
		Truncated               bool
		Metadata                []toolPair
	}
	toolPair   struct{ Key, Value string }
	toolStatus uint8
	toolFrame  struct {
		In     toolInput
		Result toolResult
	}
)

func (toolStatus) WITEnum() []string { return []string{"passed", "failed", "error"} }
func (toolPair) WITTuple()           {}

func toolFunc(t testing.TB) *HostFunc {
	summary, data := "exit 0", "Command: true\nExit code: 0\nStdout:\nStderr:\n"
	meta := []toolPair{{"exit_code", "0"}, {"duration_ms", "12"}}
	h, err := NewHostFunc("murmur:tool/run#run", nil, nil, func(_ context.Context, _ any, f *toolFrame) error {
		f.Result = toolResult{Summary: &summary, Data: &data, Metadata: meta}
		return nil
	})
	require.NoError(t, err)
	return h
}

// loopGuest is a real module that calls its import in a loop.
func loopGuest(b testing.TB, serve func(ctx context.Context, m api.Module, stack []uint64)) (loop api.Function, bind *Binding) {
	ctx := context.Background()
	sig := toolFunc(b).Type().Lower()
	rt := wazero.NewRuntime(ctx)
	b.Cleanup(func() { require.NoError(b, rt.Close(ctx)) })
	_, err := rt.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(serve), sig.Params, sig.Results).Export("run").Instantiate(ctx)
	require.NoError(b, err)
	var m wasmModule
	m.importFunc("env", "run", sig)
	m.define("loop", Signature{Params: []CoreType{i32}}, 0, loopCode(len(sig.Params))...)
	m.define("cabi_realloc", Signature{Params: []CoreType{i32, i32, i32, i32}, Results: []CoreType{i32}}, 0, bumpCode...)
	inst, err := rt.Instantiate(ctx, m.bytes())
	require.NoError(b, err)
	bind = &Binding{
		Instance: NewInstance(nil, Limits{}),
		Memory:   MemoryOf(inst.Memory()),
		Realloc:  inst.ExportedFunction("cabi_realloc"),
	}
	return inst.ExportedFunction("loop"), bind
}

func runLoop(b *testing.B, loop api.Function) {
	b.ReportAllocs()
	require.NoError(b, loop.CallWithStack(context.Background(), []uint64{uint64(b.N)}))
}

// A constant tool-result from guest to host to guest, beside a host call of the
// same signature that does nothing.
func BenchmarkToolRun(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		loop, _ := loopGuest(b, func(context.Context, api.Module, []uint64) {})
		b.ResetTimer()
		runLoop(b, loop)
	})
	b.Run("canon", func(b *testing.B) {
		h := toolFunc(b)
		var bind *Binding
		loop, bind := loopGuest(b, func(ctx context.Context, _ api.Module, stack []uint64) {
			if err := h.Call(ctx, bind, nil, stack); err != nil {
				panic(err)
			}
		})
		b.ResetTimer()
		runLoop(b, loop)
	})
}
