package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/murmur-capsule/murmur/host/internal/canon"
	"github.com/murmur-capsule/murmur/host/internal/component"
)

// componentImports are what the plugins have for the imports of a component.
// What they lack is stubs, which trap when they are called.
func (g *Guest) componentImports(plugins []*Plugin) component.Items {
	names := pluginNames(plugins)
	out := make(component.Items, len(g.needs))
	for _, x := range g.needs {
		if p := pickPlugin(plugins, names, x.Name); p != nil {
			out[x.Name] = p.items(x)
		}
	}
	return out
}

// items are what the plugin has of an interface that a component imports.
func (p *Plugin) items(x component.Extern) component.Items {
	items := make(component.Items, len(x.Items))
	funcs := make([]component.HostFunc, len(x.Items))
	for n, it := range x.Items {
		switch it.Kind {
		case kindFunc:
			if f := p.funcs[it.Name]; f != nil {
				funcs[n] = component.HostFunc{Plan: f, State: p.state}
				items[it.Name] = &funcs[n]
			}
		case kindResource:
			if r := p.resource(it.Name); r != nil {
				items[it.Name] = r.Fixed
			}
		}
	}
	return items
}

// startComponent makes the component's instance, whose start functions run.
func (i *Instance) startComponent(call *callContext, imports component.Items) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = setupError{fmt.Errorf("internal error of the engine: %v", r)}
		}
	}()
	opts := &i.guest.opts
	ctx := experimental.WithMemoryAllocator(call, &i.memory)
	i.component, err = i.guest.code.component.Instantiate(ctx, component.InstanceConfig{
		Imports: imports, Stubs: true, Memory: opts.MemoryLimit, Strict: opts.StrictRealloc, Crossing: crossing{i},
	})
	var link *component.LinkError
	if errors.As(err, &link) {
		return setupError{link}
	}
	return err
}

// A crossing is where a component and the host meet.
type crossing struct{ *Instance }

// Made implements component.Crossing: it makes a core module one that can be
// interrupted, and then runs its start function.
func (c crossing) Made(ctx context.Context, position int, m api.Module) error {
	prepared := &c.guest.modules[position]
	c.interruptible(m, prepared.interrupt)
	if err := ctx.Err(); err != nil {
		return err
	}
	if prepared.start == "" {
		return nil
	}
	return m.ExportedFunction(prepared.start).CallWithStack(ctx, nil)
}

// Run implements component.Crossing. The guest's time counts while it runs, also
// where it runs for a host call.
func (c crossing) Run(ctx context.Context, f api.Function, stack []uint64) error {
	if c.meter.running() {
		return f.CallWithStack(ctx, stack)
	}
	c.meter.resume()
	err := f.CallWithStack(ctx, stack)
	c.meter.pause()
	return err
}

// Call implements component.Crossing.
func (c crossing) Call(ctx context.Context, f *component.HostFunc, b *canon.Binding, stack []uint64) error {
	c.meter.pause()
	if err := callServed(ctx, f, b, stack); err != nil {
		return &importTrap{name: f.Plan.Name(), err: err}
	}
	c.meter.resume()
	return nil
}

// callServed makes a panic of the plugin an error like any other.
func callServed(ctx context.Context, f *component.HostFunc, b *canon.Binding, stack []uint64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = newPanicError(f.Plan.Name(), r)
		}
	}()
	return f.Plan.Call(ctx, b, f.State, stack)
}

// componentExport binds a function that the component exports.
func (i *Instance) componentExport(name string) (*canon.Export, error) {
	f, ok := i.component.Func(splitExport(name))
	if !ok {
		return nil, fmt.Errorf("the component does not export %s", name)
	}
	return f.Export()
}
