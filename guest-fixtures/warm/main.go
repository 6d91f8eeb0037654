// Command warm builds the guests of this folder and compiles them into the
// cache that the tests use. A test binary with the race detector compiles a
// guest ten times slower than this one. The arguments name guests; without any it
// is all of them.
package main

import (
	"context"
	"fmt"
	"os"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/host"
)

func main() {
	names := os.Args[1:]
	if len(names) == 0 {
		names = fixtures.Names()
	}
	if err := warm(context.Background(), names); err != nil {
		fmt.Fprintln(os.Stderr, "warm: "+err.Error())
		os.Exit(1)
	}
}

func warm(ctx context.Context, names []string) error {
	dir, err := fixtures.CacheDir()
	if err != nil {
		return err
	}
	engine, err := host.NewEngine(ctx, host.Config{CacheDir: dir})
	if err != nil {
		return err
	}
	defer engine.Close(ctx)
	for _, name := range names {
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

func load(ctx context.Context, engine *host.Engine, name, path string) error {
	wasm, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	g, err := engine.Load(ctx, wasm, host.LoadOptions{Name: name})
	if err != nil {
		return err
	}
	return g.Close(ctx)
}
