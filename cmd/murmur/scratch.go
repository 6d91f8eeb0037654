package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/murmur-capsule/murmur/runtime"
)

// scratchRuntime is a runtime whose sessions leave nothing behind. The compiled
// guests are kept where a run finds them.
func (a *app) scratchRuntime() (rt *runtime.Runtime, done func() error, err error) {
	dir, err := os.MkdirTemp("", "murmur-")
	if err != nil {
		return nil, nil, err
	}
	rt, err = runtime.New(runtime.Options{StateDir: filepath.Join(dir, "state"), Log: a.stderr, CompileProgress: a.compiling})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return rt, func() error { return errors.Join(rt.Close(), os.RemoveAll(dir)) }, nil
}

// interruptible runs f under a context that a signal ends. What f then says is
// left out: the signal is the reason.
func interruptible(ctx context.Context, f func(context.Context) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// The second signal is the system's: whatever hangs, ends.
	context.AfterFunc(ctx, stop)
	err := f(ctx)
	if ctx.Err() != nil {
		return &failure{code: exitEnded}
	}
	return err
}
