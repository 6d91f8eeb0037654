package host

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// InstanceConfig is what one instance of a guest gets. The zero value gives it
// nothing.
type InstanceConfig struct {
	// Plugins serve the guest's imports. Of several that would serve one, it is
	// the one of the same version, else of the highest compatible one.
	Plugins []*Plugin
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
	served  []served
	module  api.Module
	memory  linearMemory
	binding canon.Binding
	meter   meter
	// exports are the functions that were called before, by name.
	exports map[string]*canon.Export
	// ready tells that the guest's allocator may be called.
	ready bool

	mu     sync.Mutex
	stop   api.MutableGlobal // what interrupts the guest
	call   *callContext      // the call in progress, or nil
	closed bool
	failed error // why the instance is of no use
	reason error // why it was interrupted
}

// Instantiate makes an instance: it links the guest, and runs its start function
// and its _initialize. The error names what cannot be linked, or is the guest's.
func (g *Guest) Instantiate(ctx context.Context, c InstanceConfig) (*Instance, error) {
	served, err := g.link(c.Plugins)
	if err != nil {
		return nil, fmt.Errorf("cannot link guest %s: %w", g.name, err)
	}
	i := &Instance{guest: g, served: served, exports: map[string]*canon.Export{}}
	i.memory.limit = g.opts.MemoryLimit
	i.meter.init(g.opts.ComputeLimit, i.overLimit)
	i.binding = canon.Binding{Instance: canon.NewInstance(nil, canon.Limits{})}
	if err := g.add(i); err != nil {
		return nil, err
	}
	if err := i.start(ctx, c); err != nil {
		_ = i.Close(ctx)
		return nil, fmt.Errorf("cannot start guest %s: %w", g.name, err)
	}
	return i, nil
}

const (
	initializeExport = "_initialize"
	startExport      = "_start"
)

// start makes the module and runs what it has to run first. Nothing of the guest
// runs before the host can interrupt it.
func (i *Instance) start(ctx context.Context, c InstanceConfig) error {
	call, err := i.enter(ctx)
	if err != nil {
		return err
	}
	return i.leave(call, i.startIn(call, c))
}

func (i *Instance) startIn(call *callContext, c InstanceConfig) error {
	if err := i.makeModule(call, c); err != nil {
		return err
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
		i.binding.Memory = &i.memory
	}
	if e, ok := i.guest.exports[reallocExport]; ok && e.typ.Equal(reallocType) {
		i.binding.Realloc = &guestRealloc{inst: i, fn: mod.ExportedFunction(reallocExport)}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stop, _ = mod.ExportedGlobal(i.guest.interrupt).(api.MutableGlobal)
	if i.reason != nil { // it came too early to find anything to stop
		i.stop.Set(1)
	}
	return nil
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
	err := i.binding.Instance.Close(ctx)
	if i.module != nil {
		if e := i.module.Close(ctx); err == nil {
			err = e
		}
	}
	i.memory.release()
	i.guest.remove(i)
	return err
}
