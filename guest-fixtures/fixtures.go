// Package fixtures builds the guests of this folder for tests: each once, from
// source, into its own build folder, from where its murmur.yaml takes it.
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

	"github.com/gofrs/flock"
)

// Path builds the guest of that name, such as "runner", and returns the path of
// its module.
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
	return filepath.Dir(filepath.Dir(Path(t, name)))
}

// Wasm builds the guest of that name and returns its module.
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
		build = sync.OnceValues(func() (string, error) { return compile(name) })
		built[name] = build
	}
	mu.Unlock()
	return build()
}

// plain tells for each guest whether it is an ordinary command or, as all
// others, a library that the host calls into.
var plain = map[string]bool{
	"runner": false, "looper": false, "command": true, "gcstress": false, "hostile": false,
}

// Names lists the guests, in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(plain)) }

func compile(name string) (string, error) {
	root, err := folder()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "go", name)
	module := filepath.Join(dir, "build", name+".wasm")
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("cannot build the guest %s: %w", name, err)
	}
	args := []string{"build", "-trimpath", "-o", module}
	if !plain[name] {
		args = append(args, "-buildmode=c-shared")
	}
	if err := os.MkdirAll(filepath.Dir(module), 0o755); err != nil {
		return "", err
	}
	// Tests of several packages run at once; the go command leaves a module
	// that is up to date alone, but it does not write it atomically.
	lock := flock.New(filepath.Join(filepath.Dir(module), "lock"))
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("cannot lock the build of %s: %w", name, err)
	}
	defer func() { _ = lock.Unlock() }()
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = dir
	// Flags meant for the tests, such as -race, would break the build.
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the guest %s: %w\n%s", name, err, out)
	}
	return module, nil
}

// ComputeLimit is a compute limit for tests that need one and do not care which:
// a guest is compiled differently with one.
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
