package component

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Why commands are not run whatever file they are in.
const (
	skipQuote = "tests the text format, which this host does not read"
	skipText  = "the text tool does not know this syntax"
)

// wastSkips are the files, or lines of files, that are not expected to pass,
// and why. An entry whose commands all pass fails the test: it is stale.
var wastSkips = []struct {
	file   string
	lines  []int // none is the whole file
	reason string
}{
	{"tags.wast", nil, "exception handling: not supported by the engine"},
	{"unit.wast", []int{261, 295, 296, 297, 298, 299, 300, 301, 302, 308, 344, 345, 346, 347, 348, 349, 350, 351, 355, 374, 375},
		"more than one memory in a module: not supported by the engine"},
	{"instantiation.wast", []int{342}, "more than one memory in a module: not supported by the engine"},
	{"variants.wast", []int{186}, "an asynchronous call"},
	{"alias-region-known-imported-entities.wast", nil, "garbage collection: not supported by the engine"},
	{"alias-region-multiple-instantiations.wast", nil, "garbage collection: not supported by the engine"},
	{"alias-region-reexported-ambiguous-entities.wast", nil, "garbage collection: not supported by the engine"},
	{"alias-region-reexported-entities-to-imported-module.wast", nil, "garbage collection: not supported by the engine"},
	{"alias-region-reexported-known-entities.wast", nil, "garbage collection: not supported by the engine"},
	{"exceptions.wast", nil, "exception handling: not supported by the engine"},
	{"memory64.wast", nil, "64-bit memories: not supported by the engine"},
	{"modules.wast", []int{482, 485}, "exception handling: not supported by the engine"},
	{"implements-disabled.wast", nil, "implements is always on in this host"},
}

// TestWastSuites runs the scripts in the folder that MURMUR_WAST_DIR names: the
// suites of the specification (WebAssembly/component-model, test/*) and of other
// implementations. Their texts are converted by the tool in MURMUR_WAST_TOOLS.
func TestWastSuites(t *testing.T) {
	dir := os.Getenv("MURMUR_WAST_DIR")
	if dir == "" {
		return // our own cases are in TestWastCases
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.wast"))
	require.NoError(t, err)
	require.NotEmpty(t, paths, "no scripts in %s", dir)
	var texts []string
	var files []*wastFile
	for _, p := range paths {
		src, err := os.ReadFile(p)
		require.NoError(t, err)
		f, err := readScript(filepath.Base(p), string(src), &texts)
		require.NoError(t, err)
		files = append(files, f)
	}
	conversions := convert(t, texts)
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			outcomes := newWastRunner(t, newRuntime(t)).run(withLazyMemory(context.Background()), f, conversions)
			report(t, f.name, outcomes)
		})
	}
}

// report prints the table of one file and fails on what is not excused.
func report(t *testing.T, file string, outcomes []outcome) {
	t.Helper()
	var passed, failed int
	skipped := map[string]int{}
	excused := make([]bool, len(wastSkips)) // with a command that needs it
	for _, o := range outcomes {
		entry := slices.IndexFunc(wastSkips, func(s struct {
			file   string
			lines  []int
			reason string
		}) bool {
			return s.file == file && (s.lines == nil || slices.Contains(s.lines, o.line))
		})
		switch {
		case o.skip != "":
			skipped[o.skip]++
		case o.err == nil:
			passed++
		case entry >= 0:
			excused[entry] = true
			skipped[wastSkips[entry].reason]++
		default:
			failed++
			t.Errorf("%s:%d %s: %s", file, o.line, o.what, strings.SplitN(o.err.Error(), "\n", 2)[0])
		}
	}
	t.Logf("%-50s run %3d  passed %3d  failed %3d  skipped %v", file, len(outcomes), passed, failed, skipped)
	for i, s := range wastSkips {
		if s.file == file && !excused[i] {
			t.Errorf("%s: the exclusion %q is stale: everything it covers passes", file, s.reason)
		}
	}
}
