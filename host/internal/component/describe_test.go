package component

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

func TestComponent_Imports(t *testing.T) {
	t.Parallel()
	got := load(t, importing("0.2.3")).Imports()
	assert.Equal(t, []Extern{{Name: "own:fs/disk@0.2.3", Kind: "instance", Items: []Extern{
		{Name: "file", Kind: "resource", Text: "resource file"},
		{Name: "open", Kind: "func", Text: "open: func() -> file"},
		{Name: "sync", Kind: "func", Text: "sync: func()"},
	}}}, got)
}

func TestComponent_Exports(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, e := range loadCase(t, newRuntime(t), "calls.wast", 0).Exports() {
		texts = append(texts, e.Text)
	}
	assert.Equal(t, []string{
		"enum colour { red, green }",
		"sum: func(a: u32, b: u32) -> u32",
		"echo: func(text: string) -> string",
		"freed: func() -> u32",
		"total: func(rows: list<tuple<u8, u32>>) -> u32",
		"half: func(n: u32) -> result<u32, u32>",
		"bad-enum: func() -> colour",
		"bad-char: func() -> char",
		"bad-text: func() -> string",
		"crooked: func() -> string",
		"stop: func()",
	}, texts)
}

// Text for people does not grow with what a type would be in full.
func TestInspect_largeType(t *testing.T) {
	t.Parallel()
	info, err := Inspect([]byte(largeImport()))
	require.NoError(t, err)
	assert.Less(t, len(info.Imports[0].Text), 30*maxTextNodes)
	assert.Contains(t, info.Imports[0].Text, "…")
}

func TestComponent_CheckExport(t *testing.T) {
	t.Parallel()
	c := loadCase(t, newRuntime(t), "calls.wast", 0)
	u32 := canon.Prim(canon.KindU32)
	sum := &canon.FuncType{Params: []canon.Param{{Name: "a", Type: u32}, {Name: "b", Type: u32}}, Result: u32}
	require.NoError(t, c.CheckExport("", "sum", sum))
	assert.ErrorContains(t, c.CheckExport("", "echo", sum), "with another type: expected 1 parameters, found 2")
	assert.ErrorContains(t, c.CheckExport("", "none", sum), "does not export the function")
	assert.ErrorContains(t, c.CheckExport("a:b/c@1.0.0", "sum", sum), "does not export the interface `a:b/c@1.0.0`")
}

func TestInspect(t *testing.T) {
	t.Parallel()
	data := append(caseBinary(t, "linking.wast", 0), section(0, "\x09producers\x01\x0cprocessed-by\x01\x04tool\x031.2")...)
	info, err := Inspect(data)
	require.NoError(t, err)
	assert.Equal(t, len(data), info.Size)
	assert.Len(t, info.Modules, 1)
	assert.Equal(t, 1, info.CoreInstances)
	assert.Equal(t, 3, info.Instances)
	require.Len(t, info.Components, 1)
	assert.Equal(t, "base: func() -> u32", info.Components[0].Imports[0].Text)
	assert.Equal(t, []ModuleInfo{{info.Components[0].Modules[0].Offset, info.Components[0].Modules[0].Size, 1, 1, nil}}, info.Components[0].Modules)
	assert.Contains(t, info.Producers, Producer{"processed-by", "tool", "1.2"})
	_, err = Inspect(data[:len(data)-3])
	assert.Error(t, err)
}
