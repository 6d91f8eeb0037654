package host

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/murmur-capsule/murmur/host/internal/canon"
	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

// importModule is the module from which the engine sees every import of a guest,
// each by its number: the guest's own names never reach it.
const importModule = "host"

// provideImports makes the module that the guest's imports are linked to. It is
// made once for all instances: what serves a call is looked up in the instance
// that makes it.
func (g *Guest) provideImports(ctx context.Context) error {
	if len(g.imports) == 0 {
		return nil
	}
	b := g.code.runtime.NewHostModuleBuilder(importModule)
	for n := range g.imports {
		imp := &g.imports[n]
		if err := checkImportType(imp); err != nil {
			return err
		}
		if imp.Module == wasip1Module {
			if err := imp.bindWASI(); err != nil {
				return err
			}
		}
		b.NewFunctionBuilder().
			WithGoModuleFunction(importFunc(n, imp), imp.typ.Params, imp.typ.Results).
			Export(strconv.Itoa(n))
	}
	return instantiateHost(ctx, g.code.runtime, b)
}

func instantiateHost(ctx context.Context, r wazero.Runtime, b wazero.HostModuleBuilder) error {
	c, err := b.Compile(ctx)
	if err != nil {
		return fmt.Errorf("internal error: cannot make the guest's imports: %w", err)
	}
	if _, err := r.InstantiateModule(ctx, c, wazero.NewModuleConfig().WithName(importModule)); err != nil {
		return fmt.Errorf("internal error: cannot make the guest's imports: %w", err)
	}
	return nil
}

// checkImportType refuses imports with types that no host function has.
func checkImportType(imp *imported) error {
	for _, t := range append(append([]byte{}, imp.typ.Params...), imp.typ.Results...) {
		if t == precheck.V128 || t == precheck.FuncRef || t == precheck.ExternRef {
			return fmt.Errorf("the guest imports %s with the type %s, which no host function has", imp, imp.Signature)
		}
	}
	return nil
}

// A served is what serves one import of an instance.
type served struct {
	fn    *canon.HostFunc // nil if nothing does
	state any
}

// importFunc is what the engine calls for the n-th import.
func importFunc(n int, imp *imported) api.GoModuleFunction {
	if imp.wasi != nil {
		return wasip1Func(imp)
	}
	name := imp.String()
	return api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		inst := instanceOf(ctx)
		inst.meter.pause()
		if err := inst.callImport(ctx, n, name, stack); err != nil {
			panic(&importTrap{name: name, err: err})
		}
		inst.meter.resume()
	})
}

// callImport serves one call of the guest's. A panic of a plugin is an error like
// any other, and not for the guest to see.
func (i *Instance) callImport(ctx context.Context, n int, name string, stack []uint64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = newPanicError(name, r)
		}
	}()
	s := &i.served[n]
	if s.fn == nil {
		return errNotServed
	}
	if i.guest.opts.StrictRealloc {
		if err := i.binding.Instance.MayLeave(name); err != nil {
			return err
		}
	}
	return s.fn.Call(ctx, &i.binding, s.state, stack)
}

var errNotServed = errors.New("nothing serves this import")

// link finds what serves each import. Imports of WIT interfaces that nothing
// serves trap when they are called: guests import much that they never call.
// Others are an error, as is a function of another shape than the import; all of
// them are named.
func (g *Guest) link(plugins []*Plugin) ([]served, error) {
	var errs []error
	out := make([]served, len(g.imports))
	for n := range g.imports {
		imp := &g.imports[n]
		if imp.wasi != nil {
			continue
		}
		p := findPlugin(plugins, imp.Module)
		if p == nil {
			if !isInterface(imp.Module) {
				errs = append(errs, fmt.Errorf("nothing serves the import %s", imp))
			}
			continue
		}
		fn, err := imp.servedBy(p)
		if err != nil {
			errs = append(errs, err)
		}
		out[n] = served{fn: fn, state: p.state}
	}
	return out, errors.Join(errs...)
}

// servedBy is the plugin's function for an import.
func (imp *imported) servedBy(p *Plugin) (*canon.HostFunc, error) {
	fn := p.function(imp.Name)
	if fn == nil {
		return nil, fmt.Errorf("plugin %s has no function for the import %s", p.Name(), imp)
	}
	if have := coreType(fn.Type().Lower()); !have.Equal(imp.typ) {
		return nil, fmt.Errorf("the import %s has the type %s, and should have %s", imp, imp.typ, have)
	}
	return fn, nil
}

// pluginErrors are what is wrong with the plugins themselves.
func pluginErrors(plugins []*Plugin) error {
	var errs []error
	for _, p := range plugins {
		errs = append(errs, p.Err())
	}
	return errors.Join(errs...)
}

// isInterface tells whether a module's name is one of a WIT interface.
func isInterface(module string) bool {
	pkg, iface, ok := strings.Cut(module, "/")
	return ok && strings.Contains(pkg, ":") && iface != ""
}

func coreType(s canon.Signature) precheck.FuncType {
	return precheck.FuncType{Params: s.Params, Results: s.Results}
}
