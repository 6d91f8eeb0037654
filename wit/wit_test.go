package wit_test

import (
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	bytecodealliance "go.bytecodealliance.org/wit"

	"github.com/murmur-capsule/murmur/wit"
)

// load reads the WIT with wasm-tools, which the imported package embeds.
var load = sync.OnceValues(func() (*bytecodealliance.Resolve, error) {
	return bytecodealliance.LoadWIT("../wit")
})

func resolve(t *testing.T) *bytecodealliance.Resolve {
	t.Helper()
	res, err := load()
	require.NoError(t, err)
	return res
}

func TestFiles(t *testing.T) {
	var names []string
	require.NoError(t, fs.WalkDir(wit.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			names = append(names, path)
		}
		return err
	}))
	assert.Equal(t, []string{"deps/murmur-task/task.wit", "deps/murmur-tool/run.wit", "worlds.wit"}, names)
}

func TestWriteTo(t *testing.T) {
	dir := t.TempDir() + "/wit"
	require.NoError(t, wit.WriteTo(dir))
	got, err := os.ReadFile(dir + "/worlds.wit")
	require.NoError(t, err)
	want, err := os.ReadFile("worlds.wit")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))

	assert.ErrorIs(t, wit.WriteTo(dir), fs.ErrExist)
}

func TestText_isOneValidFile(t *testing.T) {
	got, err := bytecodealliance.DecodeWIT(strings.NewReader(wit.Text()))
	require.NoError(t, err, wit.Text())
	assert.Equal(t, worlds(resolve(t)), worlds(got))
}

func TestWorlds(t *testing.T) {
	assert.Equal(t, map[string]map[string]string{
		"murmur:capsule/capsule@0.1.0": {
			wit.ToolRun: "import", wit.TaskTypes: "import", wit.TaskHandler: "export",
		},
		"murmur:capsule/looper@0.1.0": {
			wit.ToolRun: "import", wit.TaskTypes: "import", wit.TaskQueue: "import", wit.CapsuleRun: "export",
		},
	}, worlds(resolve(t)))
}

// worlds tells for each world what it imports and exports.
func worlds(res *bytecodealliance.Resolve) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, w := range res.Worlds {
		items := map[string]string{}
		for _, i := range w.Imports.All() {
			items[interfaceName(i)] = "import"
		}
		for _, i := range w.Exports.All() {
			items[interfaceName(i)] = "export"
		}
		id := w.Package.Name
		id.Extension = w.Name
		all[id.String()] = items
	}
	return all
}

func interfaceName(i bytecodealliance.WorldItem) string {
	face := i.(*bytecodealliance.InterfaceRef).Interface
	id := face.Package.Name
	id.Extension = *face.Name
	return id.String()
}

// The shapes are fixed: guests that were built elsewhere rely on them.
func TestShapes(t *testing.T) {
	res := resolve(t)
	for _, tt := range []struct{ name, want string }{
		{"status", "enum{passed,failed,error}"},
		{"tool-input", "record{data:option<string>,log-path:option<string>}"},
		{"tool-result", "record{status:status,summary:option<string>,data:option<string>,data-path:option<string>," +
			"truncated:bool,metadata:list<tuple<string,string>>}"},
		{"origin", "enum{user,peer,schedule,event,completion,system}"},
		{"trust", "enum{trusted,untrusted}"},
		{"task", "record{id:string,context-id:string,origin:origin,trust:trust,message:string}"},
	} {
		assert.Equal(t, tt.want, shape(typeDef(t, res, tt.name).Kind), tt.name)
	}
	for _, tt := range []struct{ name, want string }{
		{wit.ToolRun + "#run", "func(input:tool-input)->tool-result"},
		{wit.TaskHandler + "#handle", "func(task:task)->result<string,string>"},
		{wit.TaskQueue + "#next", "func()->option<task>"},
		{wit.TaskQueue + "#settle", "func(outcome:result<string,string>)"},
		{wit.CapsuleRun + "#run", "func()"},
	} {
		assert.Equal(t, tt.want, signature(function(t, res, tt.name)), tt.name)
	}
}

// What every interface, type and function means is said where it is declared.
func TestEverythingIsDocumented(t *testing.T) {
	res := resolve(t)
	for _, w := range res.Worlds {
		assert.NotEmpty(t, w.Docs.Contents, w.Name)
	}
	for _, i := range res.Interfaces {
		assert.NotEmpty(t, i.Docs.Contents, *i.Name)
		for name, f := range i.Functions.All() {
			assert.NotEmpty(t, f.Docs.Contents, name)
		}
	}
	for _, d := range res.TypeDefs {
		_, alias := d.Kind.(*bytecodealliance.TypeDef)
		if d.Name != nil && !alias {
			assert.NotEmpty(t, d.Docs.Contents, *d.Name)
		}
	}
}
