package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cacheFiles lists what is in a cache, without locks.
func cacheFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, ".lock") {
			files = append(files, path)
		}
		return err
	}))
	return files
}

// loadAndCall loads a guest through a cache, with an engine of its own as another
// process has, and calls it.
func loadAndCall(t *testing.T, cache string, wasm []byte) {
	t.Helper()
	g, err := newEngine(t, Config{CacheDir: cache}).Load(context.Background(), wasm, LoadOptions{})
	require.NoError(t, err)
	text, _, err := instantiate(t, g, InstanceConfig{}).Handle(context.Background(), Task{Message: "x"})
	require.NoError(t, err)
	assert.Equal(t, "x", text)
}

func TestCompileCache(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "a", "cache")
	wasm := handler(echo...).bytes()
	loadAndCall(t, cache, wasm)
	info, err := os.Stat(cache)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	files := cacheFiles(t, cache)
	require.Len(t, files, 2, "the code, and the digests")
	before := readAll(t, files)
	loadAndCall(t, cache, wasm)
	assert.Equal(t, before, readAll(t, cacheFiles(t, cache)))
	loadAndCall(t, cache, handler(answer(0, get(paramMessage), get(paramMessageLen))...).bytes())
	assert.Len(t, cacheFiles(t, cache), 2, "the same guest, made anew")
	loadAndCall(t, cache, handler(code([]byte{0x01}, echo)...).bytes())
	assert.Len(t, cacheFiles(t, cache), 4, "another one")
}

func readAll(t *testing.T, files []string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		all[f] = string(b)
	}
	return all
}

// TestDamagedCache damages each file in each of several ways. What is not as it
// was is made anew, and never run.
func TestDamagedCache(t *testing.T) {
	wasm := handler(echo...).bytes()
	damages := map[string]func(path string) error{
		"empty":         func(p string) error { return os.Truncate(p, 0) },
		"cut":           func(p string) error { return os.Truncate(p, 20) },
		"gone":          os.Remove,
		"garbage":       func(p string) error { return os.WriteFile(p, []byte("garbage"), 0o600) },
		"a directory":   func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
		"a link":        func(p string) error { return errors.Join(os.Remove(p), os.Symlink("/dev/zero", p)) },
		"one bit":       func(p string) error { return flip(p, -10) },
		"a count":       func(p string) error { return flip(p, 16) },
		"one file more": func(p string) error { return os.WriteFile(p+".tmp", []byte("left over"), 0o600) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			for n := range 2 {
				cache := t.TempDir()
				require.NoError(t, os.Chmod(cache, 0o700))
				loadAndCall(t, cache, wasm)
				files := cacheFiles(t, cache)
				require.Len(t, files, 2)
				before := readAll(t, files)
				require.NoError(t, damage(files[n]))
				loadAndCall(t, cache, wasm)
				assert.Equal(t, before, readAll(t, cacheFiles(t, cache)), "it is whole again")
			}
		})
	}
}

// flip changes a byte; a negative position counts from the end.
func flip(path string, at int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 0xff
	return os.WriteFile(path, b, 0o600)
}

// TestUselessCache: a cache that cannot be written to costs time, and nothing
// else.
func TestUselessCache(t *testing.T) {
	cache := t.TempDir()
	require.NoError(t, os.Chmod(cache, 0o700))
	wasm := handler(echo...).bytes()
	loadAndCall(t, cache, wasm)
	entries, err := filepath.Glob(filepath.Join(cache, "*.lock"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.NoError(t, os.Remove(entries[0]))
	require.NoError(t, os.Mkdir(entries[0], 0o700), "nobody can lock this entry")
	require.NoError(t, os.RemoveAll(strings.TrimSuffix(entries[0], ".lock")))
	loadAndCall(t, cache, wasm)
	assert.Empty(t, cacheFiles(t, cache))
}

func TestCachesThatAreRefused(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := NewEngine(ctx, Config{CacheDir: file})
	assert.ErrorContains(t, err, "cannot use the compile cache "+file)
	_, err = NewEngine(ctx, Config{CacheDir: filepath.Join(file, "below")})
	assert.ErrorContains(t, err, "not a directory")
}

// heavy takes the compiler some tenths of a second in one function.
func heavy() []byte {
	m := &module{}
	ifs := []byte{}
	for range 4_000 {
		ifs = append(ifs, 0x20, 0, 0x04, 0x40, 0x0b)
	}
	m.def("f", "i:", 0, ifs...)
	return m.bytes()
}

// TestCompileTimeout: the deadline holds although the compiler is inside one
// function, and what it does then is in nobody's way for long.
func TestCompileTimeout(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t, Config{CompileTimeout: time.Millisecond})
	_, err := e.Load(ctx, heavy(), LoadOptions{})
	assert.ErrorIs(t, err, ErrCompileTimeout)
	assert.EqualError(t, err, "cannot compile: the guest took too long to compile")

	e.conf.CompileTimeout = time.Minute
	_, err = e.Load(ctx, handler(echo...).bytes(), LoadOptions{})
	require.NoError(t, err)
	waitForCompilers(e)
}

func TestCompileIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := newEngine(t, Config{})
	e.compiling <- struct{}{}
	e.compiling <- struct{}{} // all are busy
	done := make(chan error)
	go func() {
		_, err := e.Load(ctx, heavy(), LoadOptions{})
		done <- err
	}()
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
	<-e.compiling
	<-e.compiling

	ctx, cancel = context.WithCancel(context.Background())
	go func() {
		_, err := e.Load(ctx, heavy(), LoadOptions{})
		done <- err
	}()
	for len(e.compiling) == 0 { // until it compiles
		select {
		case err := <-done:
			t.Fatal(err)
		default:
		}
	}
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
	waitForCompilers(e)
}

// waitForCompilers waits until no compilation holds a token.
func waitForCompilers(e *Engine) {
	for range cap(e.compiling) {
		e.compiling <- struct{}{}
	}
}

func TestProgress(t *testing.T) {
	e := newEngine(t, Config{})
	e.progressEvery = time.Millisecond
	var told []Progress
	wasm := heavy()
	_, err := e.Load(context.Background(), wasm, LoadOptions{Progress: func(p Progress) { told = append(told, p) }})
	require.NoError(t, err)
	require.NotEmpty(t, told)
	last := told[len(told)-1]
	assert.Equal(t, Progress{Elapsed: last.Elapsed, Functions: 1, Bytes: len(wasm), Module: 1, Modules: 1}, last)
	assert.GreaterOrEqual(t, last.Elapsed, time.Millisecond)
}
