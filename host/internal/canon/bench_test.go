package canon

import (
	"context"
	"testing"
	"unsafe"

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

// addGuest is a module with a function that adds two numbers, one that returns
// the text it got, and one that takes a list.
func addGuest(b testing.TB) (api.Module, *Binding) {
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	b.Cleanup(func() { require.NoError(b, rt.Close(ctx)) })
	var m wasmModule
	ii := []CoreType{i32, i32}
	m.define("add", Signature{ii, []CoreType{i32}}, 0, 0x20, 0, 0x20, 1, 0x6a)
	m.define("echo", Signature{ii, []CoreType{i32}}, 0,
		0x41, 0x10, 0x20, 0, 0x36, 2, 0, // i32.store 16 (local 0)
		0x41, 0x14, 0x20, 1, 0x36, 2, 0, // i32.store 20 (local 1)
		0x41, 0x80, 0x20, 0x24, 0, // global.set 0 (i32.const 4096)
		0x41, 0x10)
	m.define("cabi_realloc", Signature{[]CoreType{i32, i32, i32, i32}, []CoreType{i32}}, 0, bumpCode...)
	inst, err := rt.Instantiate(ctx, m.bytes())
	require.NoError(b, err)
	return inst, &Binding{
		Instance: NewInstance(nil, Limits{}),
		Memory:   MemoryOf(inst.Memory()),
		Realloc:  inst.ExportedFunction("cabi_realloc"),
	}
}

// A call of two numbers, beside one of the core function alone.
func BenchmarkCallNumbers(b *testing.B) {
	type params struct{ A, B uint32 }
	ctx := context.Background()
	inst, bind := addGuest(b)
	f, err := NewGuestFunc[params, uint32](nil)
	require.NoError(b, err)
	e := &Export{Name: "add", Binding: bind, Core: inst.ExportedFunction("add")}
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		stack := make([]uint64, 2)
		for b.Loop() {
			_ = e.Core.CallWithStack(ctx, stack)
		}
	})
	b.Run("typed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = f.Call(ctx, e, params{1, 2})
		}
	})
	b.Run("dynamic", func(b *testing.B) {
		d, err := NewDynamicExport(f.Type())
		require.NoError(b, err)
		args, result := []Value{Bits(1), Bits(2)}, Value{}
		b.ReportAllocs()
		for b.Loop() {
			_ = d.Call(ctx, e, nil, args, &result)
		}
	})
}

// A text to the guest and back.
func BenchmarkCallString(b *testing.B) {
	type params struct{ S string }
	ctx := context.Background()
	inst, bind := addGuest(b)
	f, err := NewGuestFunc[params, string](nil)
	require.NoError(b, err)
	e := &Export{Name: "echo", Binding: bind, Core: inst.ExportedFunction("echo")}
	b.ReportAllocs()
	for b.Loop() {
		if s, err := f.Call(ctx, e, params{"a text of thirty-two characters."}); err != nil || len(s) != 32 {
			b.Fatal(s, err)
		}
	}
}

// Large lists, from guest memory to Go and back, without a guest between.
func BenchmarkLists(b *testing.B) {
	type record struct {
		ID   uint32
		Name string
		Real float64
	}
	b.Run("bytes", func(b *testing.B) { benchList(b, make([]byte, 1<<20), 1<<20) })
	b.Run("u32", func(b *testing.B) { benchList(b, make([]uint32, 1<<18), 1<<20) })
	b.Run("f64", func(b *testing.B) { benchList(b, make([]float64, 1<<17), 1<<20) })
	records := make([]record, 1000)
	for i := range records {
		records[i] = record{uint32(i), "a name", 1.5}
	}
	b.Run("records", func(b *testing.B) { benchList(b, records, 24000) })
}

func benchList[T any](b *testing.B, v []T, size int64) {
	typ, cd := codecFor[[]T](b)
	g := newGuest(1 << 22)
	g.calls = make([][4]uint32, 0, 4096)
	c := open(b, g.binding(UTF8))
	dyn := dynamicCodec(b, typ)
	b.Run("lower", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(size)
		for b.Loop() {
			g.next, g.calls = 8, g.calls[:0]
			if err := cd.store(c, 0, unsafe.Pointer(&v)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, lift := range map[string]func() error{
		"lift": func() error {
			var back []T
			return cd.load(c, 0, unsafe.Pointer(&back))
		},
		"dynamic lift": func() error {
			var back Value
			return dyn.load(c, 0, unsafe.Pointer(&back))
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			for b.Loop() {
				c.budget = DefaultCallBytes
				if err := lift(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
