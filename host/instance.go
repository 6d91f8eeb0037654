package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/murmur-capsule/murmur/host/internal/canon"
	"github.com/murmur-capsule/murmur/host/internal/component"
)

// InstanceConfig is what one instance of a guest gets. The zero value gives it
// nothing.
type InstanceConfig struct {
	// Plugins serve the guest's imports. Of several that would serve one, it is
	// the one of the same version, else of the highest compatible one.
	Plugins []*Plugin
	// What follows is WASI preview 1's, for core modules. A component has WASI
	// from plugins: see package wasi.

	// Args are the program's name and its arguments; Env is its environment, as
	// NAME=value.
	Args, Env []string
	// Stdin, Stdout and Stderr are the guest's standard streams. Nil stands for
	// an empty stream, or for one that swallows everything.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Workdir is what the guest sees as /workdir. It remains the caller's to
	// close, after the instance. Nil stands for no directory.
	Workdir *os.Root
	// ReadOnly keeps the guest from changing anything in its workdir.
	ReadOnly bool
}

// An Instance is a guest that was started. After any error of a call it is of no
// further use, and every later call fails.
type Instance struct {
	guest   *Guest
	served  []served // by import, of a core module
	plugins []string // names, for messages
	// One of them is set, by what the guest is.
	module    api.Module
	component *component.Instance

	memory  memories
	binding canon.Binding
	meter   meter
	// exports are the functions that were called before, by name.
	exports map[string]*canon.Export
	// ready tells that the guest's allocator may be called.
	ready bool

	mu     sync.Mutex
	stops  []api.MutableGlobal // what interrupts the guest: each of its modules
	call   *callContext        // the call in progress, or nil
	closed bool
	failed error // why the instance is of no use
	reason error // why it was interrupted
}

// Instantiate makes an instance: it links the guest, and runs its start function
// and its _initialize. The error names what cannot be linked, or is the guest's.
func (g *Guest) Instantiate(ctx context.Context, c InstanceConfig) (*Instance, error) {
	i := &Instance{guest: g, plugins: pluginNames(c.Plugins), exports: map[string]*canon.Export{}}
	begin, err := i.link(c)
	if err != nil {
		return nil, fmt.Errorf("cannot link guest %s: %w", g.name, err)
	}
	i.memory.limit = g.opts.MemoryLimit
	i.meter.init(g.opts.ComputeLimit, i.overLimit)
	if err := g.add(i); err != nil {
		return nil, err
	}
	if err := i.start(ctx, begin); err != nil {
		_ = i.Close(ctx)
		return nil, fmt.Errorf("cannot start guest %s: %w", g.name, err)
	}
	return i, nil
}

// link finds what serves the guest's imports, and gives what starts it then.
func (i *Instance) link(c InstanceConfig) (begin func(*callContext) error, err error) {
	if err := pluginErrors(c.Plugins); err != nil {
		return nil, err
	}
	if i.guest.code.component != nil {
		imports := i.guest.componentImports(c.Plugins)
		return func(call *callContext) error { return i.startComponent(call, imports) }, nil
	}
	i.binding = canon.Binding{Instance: canon.NewInstance(nil, canon.Limits{})}
	i.served, err = i.guest.link(c.Plugins)
	return func(call *callContext) error { return i.startModule(call, c) }, err
}

const (
	initializeExport = "_initialize"
	startExport      = "_start"
)

// start makes the module and runs what it has to run first. Nothing of the guest
// runs before the host can interrupt it.
func (i *Instance) start(ctx context.Context, begin func(*callContext) error) error {
	call, err := i.enter(ctx)
	if err != nil {
		return err
	}
	return i.leave(call, begin(call))
}

func (i *Instance) startModule(call *callContext, c InstanceConfig) error {
	if err := i.makeModule(call, c); err != nil {
		return setupError{err}
	}
	if i.guest.start != "" {
		if err := i.callVoid(call, i.guest.start); err != nil {
			return err
		}
	}
	i.ready = true
	_, isCommand := i.guest.exports[startExport]
	if _, ok := i.guest.exports[initializeExport]; !ok || isCommand {
		return nil
	}
	return i.callVoid(call, initializeExport)
}

// makeModule makes wazero's instance and finds the host's handles in it.
func (i *Instance) makeModule(ctx context.Context, c InstanceConfig) (err error) {
	conf, err := i.guest.moduleConfig(i, c)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error of the engine: %v", r)
		}
	}()
	code := i.guest.code
	mod, err := code.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, &i.memory), code.module, conf)
	if err != nil {
		return err
	}
	i.module = mod
	if i.guest.hasMemory {
		i.binding.Memory = i.memory.all[0]
	}
	if e, ok := i.guest.exports[reallocExport]; ok && e.typ.Equal(reallocType) {
		i.binding.Realloc = &guestRealloc{inst: i, fn: mod.ExportedFunction(reallocExport)}
	}
	i.interruptible(mod, i.guest.interrupt)
	return nil
}

// interruptible finds what interrupts a module, by its export's name.
func (i *Instance) interruptible(mod api.Module, name string) {
	stop, ok := mod.ExportedGlobal(name).(api.MutableGlobal)
	if !ok {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stops = append(i.stops, stop)
	if i.reason != nil { // it came too early to find anything to stop
		stop.Set(1)
	}
}

// A guestRealloc is the guest's allocator. The guest's time counts while it runs,
// also where it runs for a host call.
type guestRealloc struct {
	inst *Instance
	fn   api.Function
}

var errTooEarly = fmt.Errorf("the guest's %s cannot be called before its %s", reallocExport, initializeExport)

// CallWithStack implements canon.CoreFunc.
func (r *guestRealloc) CallWithStack(ctx context.Context, stack []uint64) error {
	if !r.inst.ready {
		return errTooEarly
	}
	if r.inst.meter.running() {
		return r.fn.CallWithStack(ctx, stack)
	}
	r.inst.meter.resume()
	err := r.fn.CallWithStack(ctx, stack)
	r.inst.meter.pause()
	return err
}

// ResetCompute gives the call in progress its whole compute limit anew. A plugin
// that hands a looping guest its next task calls it.
func (i *Instance) ResetCompute() { i.meter.reset() }

// Close frees the instance. A call in progress is interrupted, and frees it when
// it ends.
func (i *Instance) Close(ctx context.Context) error {
	i.mu.Lock()
	was := i.closed
	i.closed = true
	idle := i.call == nil
	if !idle {
		i.interrupt(fmt.Errorf("%w: its instance was %w", ErrCanceled, ErrClosed), context.Canceled)
	}
	i.mu.Unlock()
	if was || !idle {
		return nil
	}
	return i.release(ctx)
}

// release frees what the instance holds, once nothing runs in it.
func (i *Instance) release(ctx context.Context) error {
	i.meter.stop()
	var errs []error
	if i.binding.Instance != nil {
		errs = append(errs, i.binding.Instance.Close(ctx))
	}
	if i.module != nil {
		errs = append(errs, i.module.Close(ctx))
	}
	if i.component != nil {
		errs = append(errs, i.component.Close(ctx))
	}
	i.memory.release()
	i.guest.remove(i)
	return errors.Join(errs...)
}
