package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/murmur-capsule/murmur/host/internal/component"
)

// features are those of WebAssembly 2.0, and the constant expressions that
// dynamically linked guests use.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst

// A compiled is a module or a component, with the runtime that it belongs to. Each
// guest has a runtime of its own, so that closing one frees all that it brought.
type compiled struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache
	entry   *cacheEntry // where the cache is, if there is one
	// One of them is set.
	module    wazero.CompiledModule
	component *component.Component
}

// A source is what there is to compile.
type source struct {
	// key is what the result depends on.
	key []byte
	// compile compiles it in the runtime of c, and leaves the result there. It
	// may be called again after an error.
	compile func(ctx context.Context, c *compiled) error
}

// moduleSource is a core module that has been checked.
func moduleSource(wasm []byte) source {
	return source{wasm, func(ctx context.Context, c *compiled) (err error) {
		c.module, err = c.runtime.CompileModule(ctx, wasm)
		return err
	}}
}

func (c *compiled) close(ctx context.Context) {
	if c.runtime != nil {
		_ = c.runtime.Close(ctx)
	}
	if c.cache != nil {
		_ = c.cache.Close(ctx)
	}
	if c.entry != nil && c.component != nil && !c.entry.complete() {
		// An instance may have brought more to compile, such as the glue between
		// core modules that a component was given.
		_ = c.entry.seal()
	}
}

// compile compiles what has been checked. It is back at the deadline
// even where the compiler is not: inside one function it cannot be stopped.
func (e *Engine) compile(ctx context.Context, src source, progress func(time.Duration)) (*compiled, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.conf.CompileTimeout, ErrCompileTimeout)
	defer cancel()
	select {
	case e.compiling <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("cannot compile: others are being compiled: %w", context.Cause(ctx))
	}
	type outcome struct {
		c   *compiled
		err error
	}
	done := make(chan outcome)
	go func() {
		defer func() { <-e.compiling }()
		c, err := e.compileNow(ctx, src)
		select {
		case done <- outcome{c, err}:
		case <-ctx.Done():
			if c != nil {
				c.close(context.Background())
			}
		}
	}()
	tick := time.NewTicker(e.progressEvery)
	defer tick.Stop()
	for start := time.Now(); ; {
		select {
		case o := <-done:
			return o.c, o.err
		case <-ctx.Done():
			return nil, fmt.Errorf("cannot compile: %w", context.Cause(ctx))
		case <-tick.C:
			progress(time.Since(start))
		}
	}
}

// compileNow compiles through the cache, and around it where it fails: a disk
// that is full must not keep a guest from running.
func (e *Engine) compileNow(ctx context.Context, src source) (*compiled, error) {
	if e.cache == nil {
		return compileIn(ctx, "", src)
	}
	c, err := compileCached(ctx, e.cache.entry(keyOf(src.key)), src)
	if err != nil && ctx.Err() == nil && isCacheError(err) {
		return compileIn(ctx, "", src)
	}
	return c, err
}

func keyOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func compileCached(ctx context.Context, entry cacheEntry, src source) (*compiled, error) {
	if entry.sound() {
		c, err := compileIn(ctx, entry.dir, src)
		if err != nil {
			return nil, err
		}
		c.entry = &entry
		if entry.complete() {
			return c, nil
		}
		// It held code for another version or processor; wazero added ours.
		_ = entry.seal()
		return c, nil
	}
	unlock, err := entry.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if !entry.sound() { // still: nobody else made it meanwhile
		if err := entry.clear(); err != nil {
			return nil, err
		}
	}
	c, err := compileIn(ctx, entry.dir, src)
	if err != nil {
		return nil, err
	}
	c.entry = &entry
	// If this fails the next process compiles anew, which is all.
	_ = entry.seal()
	return c, nil
}

// isCacheError tells whether an error is about the cache and not about the
// module. wazero has no type for its own.
func isCacheError(err error) bool {
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &path) || errors.As(err, &link) || strings.Contains(err.Error(), "compilationcache")
}

// compileIn compiles with this directory as wazero's cache; "" stands for none.
func compileIn(ctx context.Context, dir string, src source) (_ *compiled, err error) {
	c := &compiled{}
	defer func() {
		// A fault of the compiler's must stay one of this guest.
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error of the compiler: %v", r)
		}
		if err != nil {
			c.close(context.Background())
		}
	}()
	conf := wazero.NewRuntimeConfig().WithCoreFeatures(features).WithDebugInfoEnabled(false)
	if dir != "" {
		if c.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			return nil, err
		}
		conf = conf.WithCompilationCache(c.cache)
	}
	c.runtime = wazero.NewRuntimeWithConfig(ctx, conf)
	err = src.compile(experimental.WithCompilationWorkers(ctx, workers()), c)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return c, nil
}
