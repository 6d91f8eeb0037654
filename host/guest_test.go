package host

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exporter is a guest that exports functions of these signatures; those named in
// WIT get a memory.
func exporter(exports ...string) *module {
	m := &module{pages: []byte{0, 1}}
	for n := 0; n < len(exports); n += 2 {
		m.def(exports[n], exports[n+1], 0, 0x00)
	}
	return m
}

func TestWay(t *testing.T) {
	const run = "murmur:capsule/run@0.1.0#run"
	tests := []struct {
		name  string
		guest *module
		want  Way
	}{
		{"a handler", exporter(handleExport, handleSig, reallocExport, reallocSig), Handler},
		{"a handler of a later patch", exporter("murmur:task/handler@0.1.7#handle", handleSig, reallocExport, reallocSig), Handler},
		{"a handler that initializes", exporter("_initialize", ":", handleExport, handleSig, reallocExport, reallocSig), Handler},
		{"a looper", exporter(run, ":"), Looper},
		{"a command", exporter("_start", ":", "other", ":"), Command},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := load(t, tt.guest.bytes(), LoadOptions{}).Way()
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestNoWay(t *testing.T) {
	none := &module{}
	none.def(handleExport, handleSig, 0, 0x00)
	tests := []struct {
		name  string
		guest *module
		want  string
	}{
		{"nothing", &module{}, "the guest takes no work: it exports none of murmur:task/handler@0.1.0#handle, murmur:capsule/run@0.1.0#run and _start; it exports nothing"},
		{"something else", exporter("a", ":", "b", ":"), "the guest takes no work: it exports none of murmur:task/handler@0.1.0#handle, murmur:capsule/run@0.1.0#run and _start; it exports a, b"},
		{"another version", exporter("murmur:task/handler@0.2.0#handle", handleSig), "it exports murmur:task/handler@0.2.0#handle"},
		{"two ways", exporter("_start", ":", handleExport, handleSig, reallocExport, reallocSig), "the guest takes its work in more than one way: it exports murmur:task/handler@0.1.0#handle and _start; build it as a reactor, without _start (in Go: -buildmode=c-shared)"},
		{"another shape", exporter(handleExport, "ii:i", reallocExport, reallocSig), "the export murmur:task/handler@0.1.0#handle has the type (i32, i32) -> (i32), and should have (i32, i32, i32, i32, i32, i32, i32, i32) -> (i32)"},
		{"a command that takes something", exporter("_start", "i:"), "the export _start has the type (i32) -> (), and should have () -> ()"},
		{"no allocator", exporter(handleExport, handleSig), "the guest exports murmur:task/handler@0.1.0#handle, but no cabi_realloc, by which it is given strings"},
		{"an allocator of another shape", exporter(handleExport, handleSig, reallocExport, "i:i"), "the export cabi_realloc has the type (i32) -> (i32), and should have (i32, i32, i32, i32) -> (i32)"},
		{"no memory", none, "the guest exports murmur:task/handler@0.1.0#handle, but has no memory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := load(t, tt.guest.bytes(), LoadOptions{})
			_, err := g.Way()
			assert.ErrorContains(t, err, tt.want)
			i := instantiate(t, g, InstanceConfig{})
			if tt.name != "two ways" {
				_, _, err = i.Handle(context.Background(), Task{})
				assert.Error(t, err, "such a guest is not called")
			}
		})
	}
}

func TestCallsOfAnotherWay(t *testing.T) {
	ctx := context.Background()
	i := instantiate(t, load(t, handler(echo...).bytes(), LoadOptions{Name: "g"}), InstanceConfig{})
	assert.EqualError(t, i.RunLoop(ctx), "guest g is no looper: it does not export murmur:capsule/run@0.1.0#run")
	_, err := i.RunCommand(ctx)
	assert.EqualError(t, err, "guest g is no command: it does not export _start")
	_, _, err = i.Handle(ctx, Task{Message: "x"})
	assert.NoError(t, err)
}

func TestRunLoop(t *testing.T) {
	rounds := 0
	m := &module{}
	next := m.imp("test:host/queue", "next", ":i")
	m.def("murmur:capsule/run@0.1.3#run", ":", 0, 0x03, 0x40, 0x10, next, 0x0d, 0, 0x0b)
	p := NewPlugin("test:host/queue", Func0("next", func(context.Context) (bool, error) { rounds++; return rounds < 5, nil }))
	i := instantiate(t, load(t, m.bytes(), LoadOptions{}), InstanceConfig{Plugins: []*Plugin{p}})
	require.NoError(t, i.RunLoop(context.Background()))
	assert.Equal(t, 5, rounds)
}

func TestImportsAndExports(t *testing.T) {
	m := handler(echo...)
	n := &module{pages: []byte{0, 1}}
	n.imp("murmur:tool/run@0.1.0", "run", "iiiiiii:")
	n.def("f", "il:d", 0, 0x00)
	g := load(t, n.bytes(), LoadOptions{Name: "n"})
	assert.Equal(t, "n", g.Name())
	assert.Equal(t, []FuncInfo{{Module: "murmur:tool/run@0.1.0", Name: "run", Signature: "(i32, i32, i32, i32, i32, i32, i32) -> ()"}}, g.Imports())
	assert.Equal(t, []FuncInfo{{Name: "f", Signature: "(i32, i64) -> (f64)"}}, g.Exports())
	assert.Equal(t, "murmur:tool/run@0.1.0#run", g.Imports()[0].String())
	assert.Equal(t, handleExport, load(t, m.bytes(), LoadOptions{}).Exports()[1].String())
}

func TestLink(t *testing.T) {
	ctx := context.Background()
	plugin := NewPlugin("test:host/calls@0.1.0", Func1("double", func(_ context.Context, n uint32) (uint32, error) { return 2 * n, nil }))
	older := NewPlugin("test:host/calls@0.1.4", Func1("double", func(_ context.Context, n uint32) (uint32, error) { return 4 * n, nil }))
	type import_ struct{ module, name, sig string }
	guest := func(imports ...import_) []byte {
		m := &module{}
		for _, i := range imports {
			m.imp(i.module, i.name, i.sig)
		}
		m.def("go", "i:i", 0, 0x20, 0, 0x10, 0)
		return m.bytes()
	}
	t.Run("along semver", func(t *testing.T) {
		g := load(t, guest(import_{"test:host/calls@0.1.2", "double", "i:i"}), LoadOptions{})
		for want, plugins := range map[uint64][]*Plugin{10: {plugin}, 20: {plugin, older}} {
			out, err := core(ctx, instantiate(t, g, InstanceConfig{Plugins: plugins}), "go", 5)
			require.NoError(t, err)
			assert.Equal(t, want, out[0])
		}
	})
	t.Run("the same import twice", func(t *testing.T) {
		g := load(t, guest(import_{"test:host/calls@0.1.0", "double", "i:i"}, import_{"test:host/calls@0.1.0", "double", "i:i"}), LoadOptions{})
		out, err := core(ctx, instantiate(t, g, InstanceConfig{Plugins: []*Plugin{plugin}}), "go", 5)
		require.NoError(t, err)
		assert.EqualValues(t, 10, out[0])
	})
	t.Run("everything that is wrong is told", func(t *testing.T) {
		g := load(t, guest(
			import_{"test:host/calls@0.1.0", "double", "i:i"},
			import_{"test:host/calls@0.1.0", "double", "l:i"},
			import_{"test:host/calls@0.1.0", "triple", "i:i"},
			import_{"env", "abort", ":"},
			import_{"", "", ":"},
			import_{"a:b/c@1.0.0", "never", ":"},
		), LoadOptions{Name: "g"})
		_, err := g.Instantiate(ctx, InstanceConfig{Plugins: []*Plugin{plugin}})
		assert.EqualError(t, err, `cannot link guest g: the import test:host/calls@0.1.0#double has the type (i64) -> (i32), and should have (i32) -> (i32)
plugin test:host/calls@0.1.0 has no function for the import test:host/calls@0.1.0#triple
nothing serves the import env#abort
nothing serves the import #`)
	})
	t.Run("a plugin that is wrong", func(t *testing.T) {
		bad := NewPlugin("a:b/c@1.0.0", Func0("f", func(context.Context) (uintptr, error) { return 0, nil }))
		_, err := load(t, guest(import_{"a:b/c@1.0.0", "f", "i:i"}), LoadOptions{}).Instantiate(ctx, InstanceConfig{Plugins: []*Plugin{bad}})
		assert.ErrorContains(t, err, "cannot use plugin a:b/c@1.0.0: function f")
	})
}

func TestImportsThatNoHostHas(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t, Config{})
	m := &module{}
	m.imp("test:host/calls", "vectors", "v:")
	_, err := e.Load(ctx, m.bytes(), LoadOptions{})
	assert.EqualError(t, err, "the guest imports test:host/calls#vectors with the type (v128) -> (), which no host function has")

	memory := []byte("\x00asm\x01\x00\x00\x00\x02\x0f\x01\x03env\x06memory\x02\x00\x01")
	_, err = e.Load(ctx, memory, LoadOptions{})
	assert.EqualError(t, err, `a guest can import functions only, and this one imports memory "memory" of "env"`)

	for name, want := range map[string]string{
		"fd_fly":     "the guest imports wasi_snapshot_preview1#fd_fly, which WASI preview 1 does not have",
		"random_get": "the import wasi_snapshot_preview1#random_get has the type () -> (), and should have (i32, i32) -> (i32)",
	} {
		m := &module{}
		m.imp(wasip1Module, name, ":")
		_, err := e.Load(ctx, m.bytes(), LoadOptions{})
		assert.EqualError(t, err, want)
	}
}

func TestLoadRefuses(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t, Config{})
	_, err := e.Load(ctx, []byte("\x00asm\x0d\x00\x02\x00"), LoadOptions{})
	assert.ErrorContains(t, err, "layer 2")

	_, err = e.Load(ctx, []byte("#!/bin/sh"), LoadOptions{})
	var file *FileError
	assert.ErrorAs(t, err, &file)

	m := &module{pages: []byte{0, 17}}
	_, err = e.Load(ctx, m.bytes(), LoadOptions{MemoryLimit: 1 << 20})
	var limit *LimitError
	assert.ErrorAs(t, err, &limit)

	m = &module{}
	m.def("f", ":i", 0) // no result
	_, err = e.Load(ctx, m.bytes(), LoadOptions{})
	assert.ErrorContains(t, err, "invalid function[0]", "types are the engine's to check")
}
