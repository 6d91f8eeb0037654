package fixtures

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/murmur-capsule/murmur/guest-fixtures/adapt"
)

// lock keeps a folder for one build at a time: tests of several packages run at
// once. It makes the folder.
func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	l := flock.New(filepath.Join(dir, "lock"))
	if err := l.Lock(); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil
}

// goLibrary builds a guest in Go that the host calls into, goCommand an ordinary
// command. The go command leaves a module that is up to date alone.
func goLibrary(dir, file string) error { return goBuild(dir, file, "-buildmode=c-shared") }

func goCommand(dir, file string) error { return goBuild(dir, file) }

// goComponent builds a guest as goLibrary does, and makes a component of it.
func goComponent(dir, file string) error {
	module := filepath.Join(filepath.Dir(file), filepath.Base(dir)+".wasm")
	if err := goLibrary(dir, module); err != nil {
		return err
	}
	root, err := folder()
	if err != nil {
		return err
	}
	sources := append(toolSources(root), module, filepath.Join(root, "adapt"))
	if fresh, err := isFresh(file, sources); fresh || err != nil {
		return err
	}
	return Componentize(module, file)
}

// Componentize makes a component of a module that is built with the standard Go
// toolchain, for capsule/guest's handler or looper.
func Componentize(module, file string) error {
	wasm, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	if wasm, err = adapt.Module(wasm); err != nil {
		return err
	}
	ready := file + ".core"
	if err := os.WriteFile(ready, wasm, 0o644); err != nil {
		return err
	}
	defer os.Remove(ready)
	return node(".", "go", file, ready)
}

func goBuild(dir, file string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build", "-trimpath", "-o", file}, flags...), ".")...)
	cmd.Dir = dir
	// Flags meant for the tests, such as -race, would break the build.
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	return run(cmd)
}

func run(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// component builds a component with js/build.mjs, which says what the kinds and
// their inputs are. Inputs are relative to the guest's folder; one that is no file
// there is a word for build.mjs.
func component(kind string, inputs ...string) func(dir, file string) error {
	return func(dir, file string) error {
		root, err := folder()
		if err != nil {
			return err
		}
		sources := toolSources(root)
		for _, in := range inputs {
			sources = append(sources, filepath.Join(dir, in))
		}
		if fresh, err := isFresh(file, sources); fresh || err != nil {
			return err
		}
		return node(dir, kind, file, inputs...)
	}
}

// toolSources lists what every component is made of, besides its own sources.
func toolSources(root string) []string {
	js := filepath.Join(root, "js")
	return []string{filepath.Join(js, "build.mjs"), filepath.Join(js, packageLock), filepath.Join(root, "..", "wit")}
}

// node runs js/build.mjs in a folder.
func node(dir, kind, file string, inputs ...string) error {
	root, err := folder()
	if err != nil {
		return err
	}
	js := filepath.Join(root, "js")
	if err := installed(js); err != nil {
		return err
	}
	cmd := exec.Command("node", append([]string{filepath.Join(js, "build.mjs"), kind, file}, inputs...)...)
	cmd.Dir = dir
	return run(cmd)
}

const packageLock = "package-lock.json"

// installed installs what build.mjs needs, exactly as it is locked.
func installed(js string) error {
	unlock, err := lock(filepath.Join(js, "build"))
	if err != nil {
		return err
	}
	defer unlock()
	// npm writes this file at the end.
	mark := filepath.Join(js, "node_modules", "."+packageLock)
	if fresh, err := isFresh(mark, []string{filepath.Join(js, packageLock)}); fresh || err != nil {
		return err
	}
	cmd := exec.Command("npm", "ci")
	cmd.Dir = js
	return run(cmd)
}

// isFresh tells whether a file is there and newer than its sources. A folder
// stands for the files below it; what is not there does not count.
func isFresh(file string, sources []string) (bool, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fresh := true
	for _, source := range sources {
		newest, err := newestBelow(source)
		if err != nil {
			return false, err
		}
		fresh = fresh && !newest.After(info.ModTime())
	}
	return fresh, nil
}

func newestBelow(path string) (newest time.Time, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		return err
	})
	return newest, err
}
