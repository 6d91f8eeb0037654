package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/host"
)

func (a *app) compileCommand() *cobra.Command {
	var flags manifestFlags
	c := &cobra.Command{
		Use:   "compile PATH",
		Short: "Compile a capsule's guest ahead, into the cache",
		Long: "Compile the guest of a capsule into the cache of compiled guests, where every later run finds it.\n" +
			"A large guest takes seconds to be compiled, and a fraction of one to be found.",
		Args: exactly(1, "the PATH of a capsule"),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := flags.load(args[0], c.Flags())
			if err != nil {
				return err
			}
			return interruptible(c.Context(), func(ctx context.Context) error { return a.compile(ctx, m) })
		},
	}
	flags.register(c.Flags())
	return c
}

func (a *app) compile(ctx context.Context, m *capsule.Manifest) error {
	rt, done, err := a.scratchRuntime()
	if err != nil {
		return err
	}
	start := time.Now()
	guest, err := rt.Inspect(ctx, m)
	if err == nil {
		err = guest.Close(ctx)
	}
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s is in the cache, after %v\n", m.GuestPath(), time.Since(start).Round(time.Millisecond))
	return nil
}

// compiling tells of a compilation that takes long.
func (a *app) compiling(p host.Progress) {
	part := ""
	if p.Modules > 1 {
		part = fmt.Sprintf(" (core module %d of %d)", p.Module, p.Modules)
	}
	fmt.Fprintf(a.stderr, "murmur: compiling the guest, %s: %s%s, %v so far; it is kept for the next time\n",
		size(int64(p.Bytes)), count(int64(p.Functions), "function"), part, p.Elapsed.Round(time.Second))
}
