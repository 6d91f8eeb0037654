// Command warm builds the guests of this folder and compiles them into the
// cache that the tests use. A test binary with the race detector compiles a
// guest ten times slower than this one.
package main

import (
	"context"
	"fmt"
	"os"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/host"
)

func main() {
	if err := warm(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "warm: "+err.Error())
		os.Exit(1)
	}
}

func warm(ctx context.Context) error {
	dir, err := fixtures.CacheDir()
	if err != nil {
		return err
	}
	engine, err := host.NewEngine(ctx, host.Config{CacheDir: dir})
	if err != nil {
		return err
	}
	defer engine.Close(ctx)
	for _, name := range fixtures.Names() {
		path, err := fixtures.Build(name)
		if err != nil {
			return err
		}
		if err := load(ctx, engine, name, path); err != nil {
			return fmt.Errorf("cannot compile %s: %w", name, err)
		}
	}
	return nil
}

// load compiles a guest in both forms that it is used in: with a compute limit,
// and without one.
func load(ctx context.Context, engine *host.Engine, name, path string) error {
	wasm, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for _, o := range []host.LoadOptions{{Name: name}, {Name: name, ComputeLimit: fixtures.ComputeLimit}} {
		g, err := engine.Load(ctx, wasm, o)
		if err != nil {
			return err
		}
		if err := g.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}
