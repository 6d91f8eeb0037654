package runtime_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A demoted command is learned about through its completion and in no other
// way: nothing that a guest, a model or an embedder can call takes a work id.
func TestSurface_NothingTakesAWorkID(t *testing.T) {
	found := scanSurface(t, os.DirFS(".."))
	assert.Empty(t, found.offences)
	// A scan that looks at nothing finds nothing.
	assert.Subset(t, found.packages, []string{"capsule", "capsule/guest", "host", "host/toolrun", "runtime", "runtime/provenance", "wit"})
	for _, parsers := range requestParsers {
		assert.Contains(t, found.parsers, parsers)
	}
	assert.Greater(t, found.functions, 100)
	assert.GreaterOrEqual(t, found.wit, 3)
}

// TestSurface_TheScanCatchesOne plants what must not be into a small tree, one
// at a time.
func TestSurface_TheScanCatchesOne(t *testing.T) {
	const head = "package runtime\n\nimport \"github.com/murmur-capsule/murmur/runtime/internal/jobs\"\n\nvar _ jobs.Query\n\n"
	planted := map[string][2]string{
		"parameter":            {"runtime/a.go", "package runtime\nfunc Lookup(workID string) {}\n"},
		"parameter, snake":     {"runtime/a.go", "package runtime\nfunc Lookup(a int, work_id string) {}\n"},
		"parameter, short":     {"runtime/a.go", "package runtime\nfunc Lookup(wrk string) {}\n"},
		"parameter, plain":     {"runtime/a.go", "package runtime\nfunc Lookup(work string) {}\n"},
		"parameter, list":      {"host/a.go", "package host\nfunc Stop(workIDs ...string) {}\n"},
		"id of a work":         {"runtime/a.go", "package runtime\nfunc StopWork(id string) {}\n"},
		"id of a work, method": {"runtime/a.go", "package runtime\ntype Works struct{}\nfunc (w *Works) Get(id string) {}\n"},
		"method":               {"capsule/a.go", "package capsule\ntype T struct{}\nfunc (t T) Poll(workId string) {}\n"},
		"interface":            {"host/a.go", "package host\ntype Shell interface{ Poll(workID string) }\n"},
		"function variable":    {"host/a.go", "package host\nvar Poll = func(workID string) {}\n"},
		"type":                 {"runtime/a.go", "package runtime\ntype WorkID string\nfunc Lookup(id WorkID) {}\n"},
		"type by pointer":      {"runtime/a.go", "package runtime\ntype WorkID string\nfunc Lookup(ids map[int][]*WorkID) {}\n"},
		"struct field":         {"runtime/a.go", "package runtime\ntype Query struct{ WorkID string }\nfunc Lookup(q Query) {}\n"},
		"nested field":         {"runtime/a.go", "package runtime\ntype Inner struct{ WorkIDs []string }\ntype Query struct{ In *Inner }\nfunc Lookup(q *Query) {}\n"},
		"tagged field":         {"runtime/a.go", "package runtime\ntype Query struct{ Of string `json:\"work_id\"` }\nfunc Lookup(q Query) {}\n"},
		"alias":                {"runtime/a.go", head + "type Query = jobs.Query\nfunc Lookup(q Query) {}\n"},
		"another package's":    {"runtime/a.go", head + "func Lookup(q []jobs.Query) {}\n"},
		"embedded":             {"runtime/a.go", head + "type Query struct{ jobs.Query }\nfunc Lookup(q Query) {}\n"},
		"request key":          {"runtime/internal/shell/a.go", "package shell\ntype request struct{ W string `json:\"work_id\"` }\n"},
		"request switch":       {"runtime/internal/shell/a.go", "package shell\nfunc f(k string) bool { return k == \"workId\" }\n"},
		"tool input key":       {"host/toolrun/a.go", "package toolrun\nvar m = map[string]int{\"work-id\": 1}\n"},
		"manifest key":         {"capsule/a.go", "package capsule\ntype m struct{ W string `yaml:\"work_id\"` }\n"},
		"WIT":                  {"wit/deps/x/x.wit", "interface run {\n  poll: func(work-id: string);\n}\n"},
		"WIT record":           {"wit/x.wit", "record q {\n  %work-id: string,\n}\n"},
		"schema":               {"host/toolrun/input.schema.json", `{"properties": {"work_id": {"type": "string"}}}`},
	}
	for name, plant := range planted {
		t.Run(name, func(t *testing.T) {
			tree := soundTree()
			require.Empty(t, scanSurface(t, tree).offences)
			tree[plant[0]] = &fstest.MapFile{Data: []byte(plant[1])}
			assert.Len(t, scanSurface(t, tree).offences, 1)
		})
	}
}

// soundTree has what may be: work ids given out, and taken by what nobody
// outside can call.
func soundTree() fstest.MapFS {
	files := map[string]string{
		"go.mod": "module github.com/murmur-capsule/murmur\n",
		"runtime/ok.go": "package runtime\n" +
			"type Work struct{ id string }\n" +
			"type Event struct{ WorkID string }\n" +
			"type Options struct{ OnEvent func(Event); Name string }\n" +
			"func (w *Work) ID() (workID string) { return w.id }\n" +
			"func Start(o Options, task string) []*Work { return nil }\n" +
			"func Watch(w *Work, f func(workID string)) {}\n" +
			"func lookup(workID string) {}\n",
		"runtime/internal/jobs/ok.go": "package jobs\ntype Query struct{ WorkID string }\nfunc Lookup(workID string) {}\n",
		"runtime/ok_test.go":          "package runtime\nfunc Helper(workID string) {}\n",
		"capsule/guest/ok.go":         "package guest\nfunc Of(metadata map[string]string) string { return metadata[\"work_id\"] }\n",
		"cmd/murmur/main.go":          "package main\nfunc Stop(workID string) {}\n",
		"wit/ok.wit":                  "interface run {\n  /// The work-id is in the metadata.\n  run: func(); // no work-id\n}\n",
	}
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}
