package guest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
)

// A miniHost is a second, independent reading of the canonical ABI: just
// enough of a host, on bare wazero, for one guest with a handler. It is strict:
// it counts the clock readings and yields of a guest that is allocating for it.
type miniHost struct {
	t                     *testing.T
	mod                   api.Module
	realloc, handle, post api.Function
	// run answers a tool call: request in, summary and data out.
	run        func(request string) (summary, data string)
	allocating bool
	strayed    int
}

const handleName = "murmur:task/handler@0.1.0#handle"

func newMiniHost(t *testing.T, name string, run func(string) (string, string)) *miniHost {
	ctx := t.Context()
	h := &miniHost{t: t, run: run}
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(os.TempDir(), "murmur-test-wazero"))
	require.NoError(t, err)
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCompilationCache(cache))
	t.Cleanup(func() {
		_ = r.Close(context.Background())
		_ = cache.Close(context.Background())
	})
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	h.linkTool(ctx, r)
	compiled, err := r.CompileModule(ctx, fixtures.Wasm(t, name))
	require.NoError(t, err)
	h.mod, err = r.InstantiateModule(ctx, compiled, h.config())
	require.NoError(t, err)
	h.realloc = h.mod.ExportedFunction("cabi_realloc")
	h.handle = h.mod.ExportedFunction(handleName)
	h.post = h.mod.ExportedFunction("cabi_post_" + handleName)
	return h
}

func (h *miniHost) config() wazero.ModuleConfig {
	start := time.Now()
	return wazero.NewModuleConfig().WithStartFunctions("_initialize").WithStderr(os.Stderr).
		WithNanotime(func() int64 { h.note(); return int64(time.Since(start)) }, sys.ClockResolution(1)).
		WithWalltime(func() (int64, int32) { h.note(); return time.Now().Unix(), 0 }, sys.ClockResolution(1)).
		WithOsyield(h.note)
}

func (h *miniHost) note() {
	if h.allocating {
		h.strayed++
	}
}

func (h *miniHost) linkTool(ctx context.Context, r wazero.Runtime) {
	i32 := api.ValueTypeI32
	_, err := r.NewHostModuleBuilder("murmur:tool/run@0.1.0").NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(h.toolRun), []api.ValueType{i32, i32, i32, i32, i32, i32, i32}, nil).
		Export("run").Instantiate(ctx)
	require.NoError(h.t, err)
}

// toolRun answers with status error, no path, and one pair of metadata.
func (h *miniHost) toolRun(ctx context.Context, _ api.Module, stack []uint64) {
	require.EqualValues(h.t, 1, uint32(stack[0]), "data is there")
	in := h.read(uint32(stack[1]), uint32(stack[2]))
	ret := uint32(stack[6])
	summary, data := h.run(in)
	sum, p := h.lower(ctx, summary), h.lower(ctx, data)
	pairs := h.alloc(ctx, 4, 16)
	key, value := h.lower(ctx, "exit_code"), h.lower(ctx, "7")
	h.words(pairs, key, 9, value, 1)
	h.bytes(ret, 2)                              // status: error
	h.words(ret+4, 1, sum, uint32(len(summary))) // summary
	h.words(ret+16, 1, p, uint32(len(data)))     // data
	h.bytes(ret+28, 0)                           // data-path: none
	h.bytes(ret+40, 1)                           // truncated
	h.words(ret+44, pairs, 1)                    // metadata
}

// call calls the handler as a host does and returns its answer.
func (h *miniHost) call(message string, origin, trust uint64) (text string, failed bool) {
	ctx := h.t.Context()
	id, conv := h.lower(ctx, "tsk_1"), h.lower(ctx, "ctx_1")
	msg := h.lower(ctx, message)
	res, err := h.handle.Call(ctx, uint64(id), 5, uint64(conv), 5, origin, trust, uint64(msg), uint64(len(message)))
	require.NoError(h.t, err)
	area := uint32(res[0])
	require.Zero(h.t, area%4)
	fail, ok := h.mod.Memory().ReadByte(area)
	require.True(h.t, ok)
	p, _ := h.mod.Memory().ReadUint32Le(area + 4)
	n, _ := h.mod.Memory().ReadUint32Le(area + 8)
	text = h.read(p, n)
	_, err = h.post.Call(ctx, res[0])
	require.NoError(h.t, err)
	return text, fail == 1
}

func (h *miniHost) alloc(ctx context.Context, align, size int) uint32 {
	h.allocating = true
	defer func() { h.allocating = false }()
	res, err := h.realloc.Call(ctx, 0, 0, uint64(align), uint64(size))
	require.NoError(h.t, err)
	p := uint32(res[0])
	require.Zero(h.t, p%uint32(align), "realloc result is aligned")
	return p
}

func (h *miniHost) lower(ctx context.Context, s string) uint32 {
	p := h.alloc(ctx, 1, len(s))
	require.True(h.t, h.mod.Memory().WriteString(p, s))
	return p
}

func (h *miniHost) read(p, n uint32) string {
	b, ok := h.mod.Memory().Read(p, n)
	require.True(h.t, ok)
	return string(b)
}

func (h *miniHost) words(p uint32, words ...uint32) {
	for i, w := range words {
		require.True(h.t, h.mod.Memory().WriteUint32Le(p+uint32(4*i), w))
	}
}

func (h *miniHost) bytes(p uint32, b byte) {
	require.True(h.t, h.mod.Memory().WriteByte(p, b))
}
