package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	bytecodealliance "go.bytecodealliance.org/wit"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/wit"
)

// The shapes are those that the WIT's own types flatten to.
func TestShapes_AreThoseOfTheWIT(t *testing.T) {
	resolve, err := bytecodealliance.LoadWIT("../../wit")
	require.NoError(t, err)
	compared := 0
	for _, face := range resolve.Interfaces {
		id := face.Package.Name
		id.Extension = *face.Name
		want, served := shapes[id.String()]
		if !served {
			continue
		}
		assert.Equal(t, face.Functions.Len(), len(want), "every function of %s", id.String())
		for name, f := range face.Functions.All() {
			assert.Equal(t, lowered(f), want[name], "%s#%s", id.String(), name)
			compared++
		}
	}
	assert.Equal(t, 3, compared)
}

// lowered is the core signature of an import: up to 16 parameters and one result
// are flat, more go through memory.
func lowered(f *bytecodealliance.Function) string {
	var params, results []string
	for _, p := range f.Params {
		params = append(params, flat(p.Type)...)
	}
	for _, r := range f.Results {
		results = append(results, flat(r.Type)...)
	}
	if len(params) > 16 {
		params = []string{"i32"}
	}
	if len(results) > 1 {
		params, results = append(params, "i32"), nil
	}
	return "(" + strings.Join(params, ", ") + ") -> (" + strings.Join(results, ", ") + ")"
}

func flat(t bytecodealliance.Type) (core []string) {
	for _, f := range t.Flat() {
		switch f.(type) {
		case bytecodealliance.U64, bytecodealliance.S64:
			core = append(core, "i64")
		default:
			core = append(core, "i32")
		}
	}
	return core
}

func TestCompare(t *testing.T) {
	run := shapes[wit.ToolRun]["run"]
	cases := []struct {
		imp      host.FuncInfo
		severity severity
		text     string // empty where there is nothing to say
	}{
		{host.FuncInfo{Module: wit.ToolRun, Name: "run", Signature: run}, 0, ""},
		{host.FuncInfo{Module: "murmur:tool/run@0.1.7", Name: "run", Signature: run}, 0, ""},
		{host.FuncInfo{Module: wasiPreview1, Name: "fd_write", Signature: "()"}, 0, ""},
		{host.FuncInfo{Module: wit.ToolRun, Name: "run", Signature: "() -> ()"}, wrong, "another shape"},
		{host.FuncInfo{Module: wit.ToolRun, Name: "poll", Signature: run}, wrong, "no such function"},
		{host.FuncInfo{Module: "murmur:tool/run@0.2.0", Name: "run", Signature: run}, odd, "nothing serves it"},
		{host.FuncInfo{Module: "murmur:tool/run", Name: "run", Signature: run}, odd, "nothing serves it"},
		{host.FuncInfo{Module: "wasi:http/types@0.2.0", Name: "x"}, odd, "traps"},
		{host.FuncInfo{Module: "env", Name: "x"}, wrong, "extra import env#x"},
		{host.FuncInfo{Module: "", Name: "x"}, wrong, "extra import"},
	}
	for _, c := range cases {
		found := compare(host.Handler, []host.FuncInfo{c.imp})
		if c.text == "" {
			assert.Empty(t, found, c.imp)
			continue
		}
		require.Len(t, found, 1, c.imp)
		assert.Equal(t, c.severity, found[0].severity, c.imp)
		assert.Contains(t, found[0].text, c.text)
	}
	assert.Len(t, compare(host.Looper, nil), 2)
	assert.Empty(t, compare(host.Command, nil))
}

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		"/x/My Guest.wasm": "my-guest", "a.b.wasm": "a.b", "..wasm": "guest", "日本.wasm": "guest", "-x.wasm": "x",
		strings.Repeat("a", 99) + ".wasm": strings.Repeat("a", 64), "guest": "guest",
	} {
		assert.Equal(t, want, nameOf(path), path)
	}
}

func TestIsModule(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	assert.True(t, isModule("anything.WASM"))
	assert.True(t, isModule(write("module", "\x00asm\x01\x00\x00\x00")))
	assert.False(t, isModule(write("manifest", "name: x")))
	assert.False(t, isModule(write("short", "\x00as")))
	assert.False(t, isModule(dir))
	assert.False(t, isModule(filepath.Join(dir, "gone")))
}
