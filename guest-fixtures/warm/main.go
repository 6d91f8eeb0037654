// Command warm builds every guest of this repository and compiles it into the
// cache that the tests use. Under the race detector the compiler is ten times
// slower, so this runs before, without it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/murmur-capsule/murmur/capsule"
	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/runtime"
)

func main() {
	if err := warm(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "warm:", err)
		os.Exit(1)
	}
}

func warm(ctx context.Context) error {
	state, err := os.MkdirTemp("", "murmur-warm-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(state) }()
	rt, err := runtime.New(runtime.Options{StateDir: state, Log: io.Discard})
	if err != nil {
		return err
	}
	defer func() { _ = rt.Close() }()
	for _, name := range fixtures.Names() {
		start := time.Now()
		if err := compile(ctx, rt, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Printf("%-10s ready after %d ms\n", name, time.Since(start).Milliseconds())
	}
	return nil
}

func compile(ctx context.Context, rt *runtime.Runtime, name string) error {
	module, err := fixtures.Build(name)
	if err != nil {
		return err
	}
	m, err := capsule.Load(filepath.Dir(filepath.Dir(module)))
	if err != nil {
		return err
	}
	c, err := rt.Load(ctx, m)
	if err != nil {
		return err
	}
	return c.Close(ctx)
}
