// Package fixtures builds the guests of this folder for tests: each once, from
// source, into a build folder of its own, from where its murmur.yaml takes it.
//
// There is a guest for each way of taking tasks, and the runner in every form that
// a guest comes in: see [Runners].
package fixtures

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Path builds the guest of that name, such as "runner", and returns the path of
// its module or component.
func Path(t testing.TB, name string) string {
	t.Helper()
	module, err := Build(name)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// Dir builds the guest of that name and returns its folder, which has its
// murmur.yaml.
func Dir(t testing.TB, name string) string {
	t.Helper()
	Path(t, name)
	root, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, guests[name].dir)
}

// Wasm builds the guest of that name and returns its module or component.
func Wasm(t testing.TB, name string) []byte {
	t.Helper()
	wasm, err := os.ReadFile(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

var (
	mu    sync.Mutex
	built = map[string]func() (string, error){}
)

// Build is Path for programs that are no tests. A guest is built at most once
// in a process, and only if it is older than its source.
func Build(name string) (string, error) {
	mu.Lock()
	build, ok := built[name]
	if !ok {
		build = sync.OnceValues(func() (string, error) { return makeGuest(name) })
		built[name] = build
	}
	mu.Unlock()
	return build()
}

// A guest is one of this folder.
type guest struct {
	// dir is the guest's folder, and file the module or component in it.
	dir, file string
	// build makes the file; nil stands for one that is kept with its source.
	build func(dir, file string) error
}

const plug = "../../text/plugged/"

var guests = map[string]guest{
	"runner":   {"go/runner", "build/runner.wasm", goLibrary},
	"looper":   {"go/looper", "build/looper.wasm", goLibrary},
	"command":  {"go/command", "build/command.wasm", goCommand},
	"gcstress": {"go/gcstress", "build/gcstress.wasm", goLibrary},
	"hostile":  {"go/hostile", "build/hostile.wasm", goLibrary},
	"wasi":     {"go/wasi", "build/wasi.wasm", goLibrary},

	"go-component":        {"go/runner", "build/component.wasm", goComponent},
	"go-loop-component":   {"go/looper", "build/component.wasm", goComponent},
	"go-wasi-component":   {"go/wasi", "build/component.wasm", goComponent},
	"go-stress-component": {"go/gcstress", "build/component.wasm", goComponent},

	"js-runner": {"js/runner", "build/runner.wasm", component("js", "runner.js")},
	"js-bare":   {"js/runner", "build/bare.wasm", component("js", "runner.js", "stdio", "random", "clocks", "http", "fetch-event")},

	"c-runner":    {"c/runner", "runner.wasm", nil},
	"c-component": {"c/runner", "build/component.wasm", component("core", "runner.wasm")},
	"c-plugged":   {"c/runner", "build/plugged.wasm", component("plug", plug+"compose.wat", plug+"plug.wat", "runner.wasm")},

	"text-runner":  {"text/runner", "build/runner.wasm", component("text", "runner.wat")},
	"text-looper":  {"text/looper", "build/looper.wasm", component("text", "looper.wat")},
	"text-command": {"text/command", "build/command.wasm", component("text", "command.wat")},
	"text-attacks": {"text/attacks", "build/attacks.wasm", component("text", "attacks.wat")},
	"text-shapes":  {"text/shapes", "build/shapes.wasm", component("text", "shapes.wat")},
	"text-stuck":   {"text/stuck", "build/stuck.wasm", component("text", "stuck.wat")},
	"text-package": {"text/package", "build/package.wasm", component("text", "package.wat")},
	"text-plugged": {"text/plugged", "build/plugged.wasm", component("plug", "compose.wat", "plug.wat", "../runner/runner.wat")},
}

// Names lists the guests, in alphabetical order, but for what is none.
func Names() []string {
	names := slices.Sorted(maps.Keys(guests))
	return slices.DeleteFunc(names, func(name string) bool { return name == "text-package" })
}

// Runners lists the forms of the runner, which all do the same: a core module in
// Go and in C; components from these two modules, from JavaScript, with WASI and
// without it, and from component text; and two of them composed with a component
// that stands between the guest and its tool.
func Runners() []string {
	return []string{"runner", "go-component", "js-runner", "js-bare", "c-runner", "c-component", "c-plugged", "text-runner", "text-plugged"}
}

func makeGuest(name string) (string, error) {
	g, ok := guests[name]
	if !ok {
		return "", fmt.Errorf("cannot build the guest %s: there is none", name)
	}
	root, err := folder()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, filepath.FromSlash(g.dir))
	file := filepath.Join(dir, filepath.FromSlash(g.file))
	if g.build == nil {
		return file, nil
	}
	unlock, err := lock(filepath.Dir(file))
	if err != nil {
		return "", fmt.Errorf("cannot build the guest %s: %w", name, err)
	}
	defer unlock()
	if err := g.build(dir, file); err != nil {
		return "", fmt.Errorf("cannot build the guest %s: %w", name, err)
	}
	return file, nil
}

// ComputeLimit is a compute limit for tests that need one and do not care which.
const ComputeLimit = time.Minute

// CacheDir is where compiled guests are kept from one test to the next. The
// folder above it is a runtime's CacheDir.
func CacheDir() (string, error) {
	root, err := folder()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, "build", "cache", "compiled"), nil
}

// RuntimeCache is CacheDir as the runtime's options want it.
func RuntimeCache(t testing.TB) string {
	t.Helper()
	dir, err := CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(dir)
}

// folder returns the folder of this package. It asks the go command, because a
// path compiled into a test is no path under -trimpath.
var folder = sync.OnceValues(func() (string, error) {
	const self = "github.com/murmur-capsule/murmur/guest-fixtures"
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", self).Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the fixtures: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})
