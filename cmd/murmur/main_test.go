package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/runtime"
)

func TestMain(m *testing.M) {
	runtime.Hook()
	testscript.Main(m, map[string]func(){"murmur": main})
}

// TestScripts runs every scenario of testdata/script, in which murmur is this
// program's main.
func TestScripts(t *testing.T) {
	guests := map[string]string{}
	for _, name := range []string{"runner", "command", "hostile", "text-runner", "text-looper", "text-command", "text-plugged", "text-attacks", "text-package"} {
		guests[name] = fixtures.Dir(t, name)
	}
	cache := fixtures.RuntimeCache(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for name, dir := range guests {
				env.Setenv("GUEST_"+strings.ReplaceAll(name, "-", "_"), dir)
			}
			// Beside the scenario's directory: a workdir that holds the state
			// is refused.
			home := env.WorkDir + "-home"
			env.Setenv("HOME", home)
			env.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
			env.Setenv("STATE", filepath.Join(home, "state", "murmur"))
			return shareCache(cache, filepath.Join(home, "cache"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor": waitFor, "unlocked": unlocked, "module": writeModule, "exits": exits,
		},
	})
}

// shareCache makes dir a cache directory that has the guests which other tests
// have compiled: under the race detector that takes ten times as long.
func shareCache(compiled, dir string) error {
	return errors.Join(os.MkdirAll(compiled, 0o700), os.MkdirAll(dir, 0o700), os.Symlink(compiled, filepath.Join(dir, "murmur")))
}

// waitFor waits until a file is there that holds every one of the texts. A
// pattern stands for all files that match.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: waitfor file [text]...")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		for _, path := range glob(ts.MkAbs(args[0])) {
			if holds(path, args[1:]) {
				return
			}
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%v did not come", args)
		}
	}
}

// unlocked waits until nobody holds a lock on any of the files: until the
// supervisors whose locks they are have left, say.
func unlocked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unlocked file")
	}
	for _, path := range glob(ts.MkAbs(args[0])) {
		lock := flock.New(path)
		if err := errors.Join(lock.Lock(), lock.Close()); err != nil {
			ts.Fatalf("%v", err)
		}
	}
}

func holds(path string, texts []string) bool {
	content, err := os.ReadFile(path)
	for _, text := range texts {
		if !bytes.Contains(content, []byte(text)) {
			return false
		}
	}
	return err == nil
}

func glob(pattern string) []string {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil
	}
	return paths
}

// exits runs a command that must end with the given exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command...")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if want := args[0]; strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}
