package component

import (
	"context"
	"crypto/rand"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// instantiation is one run through the definitions of a component.
type instantiation struct {
	ctx  context.Context
	in   *componentInstance
	args Items
}

func (s *stepModule) run(r *instantiation) error {
	r.in.modules = append(r.in.modules, &Module{typ: s.module.typ, module: s.module, owner: r.in.owner.component})
	return nil
}

func (stepCoreBag) run(r *instantiation) error {
	// What it bundles has been resolved to where it comes from.
	r.in.core = append(r.in.core, nil)
	return nil
}

func (s *stepComponent) run(r *instantiation) error {
	r.in.components = append(r.in.components, &componentValue{linked: r.in.linked.nested[s.template], outer: r.in})
	return nil
}

func (s *stepImport) run(r *instantiation) error {
	v := r.args[s.name]
	r.in.push(s.typ.sort, v)
	r.in.bind(v, s.binds)
	return nil
}

func (s *stepExport) run(r *instantiation) error {
	v := r.in.item(s.item)
	r.in.exports[s.name] = v
	r.in.push(s.typ.sort, v)
	if s.opaque >= 0 {
		r.in.resources[s.opaque], _ = v.(*canon.Resource)
	}
	return nil
}

func (s *stepBag) run(r *instantiation) error {
	items := make(Items, len(s.exports))
	for _, e := range s.exports {
		items[e.name] = r.in.item(e.item)
	}
	r.in.instances = append(r.in.instances, items)
	return nil
}

func (s *stepAlias) run(r *instantiation) error {
	r.in.push(s.sort, r.in.instances[s.instance][s.name])
	return nil
}

func (s *stepOuter) run(r *instantiation) error {
	from := r.in
	for range s.count {
		from = from.outer
	}
	r.in.push(s.sort, from.item(itemRef{sort: s.sort, index: s.index, slot: -1}))
	return nil
}

func (s *stepLift) run(r *instantiation) error {
	r.in.funcs = append(r.in.funcs, &Func{in: r.in, plan: r.in.linked.lifts[s.plan]})
	return nil
}

func (s *stepInstantiate) run(r *instantiation) error {
	args := make(Items, len(s.args))
	for _, a := range s.args {
		args[a.name] = r.in.item(a.item)
	}
	made, err := r.in.owner.instantiate(r.ctx, r.in.components[s.component], args, r.in)
	if err != nil {
		return err
	}
	r.in.instances = append(r.in.instances, made.exports)
	r.in.bind(made.exports, s.binds)
	return nil
}

func (s *stepResource) run(r *instantiation) error {
	res := &canon.Resource{Name: s.res.name, Impl: r.in.canon}
	if s.dtor != nil {
		d := &destructor{in: r.in, core: r.in.coreFunc(*s.dtor)}
		res.Drop = d.drop
	}
	r.in.resources[s.slot] = res
	return nil
}

func (s *stepCoreInstantiate) run(r *instantiation) error {
	m := r.in.modules[s.module]
	i := r.in.owner
	if err := i.spend(); err != nil {
		return err
	}
	if err := i.reserve(m.module); err != nil {
		return err
	}
	g, err := i.component.glueOf(r.ctx, r.in.linked, s, m.module)
	if err != nil {
		return err
	}
	ctx := r.ctx
	if g.compiled != nil {
		glue, err := r.glue(g)
		if err != nil {
			return err
		}
		ctx = experimental.WithImportResolver(ctx, func(string) api.Module { return glue })
	}
	made, err := i.module(ctx, m.owner.compiled[m.module])
	if err != nil {
		return err
	}
	if c := i.config.Crossing; c != nil {
		if err := c.Made(r.ctx, m.module.position, made); err != nil {
			return err
		}
	}
	r.in.core = append(r.in.core, made)
	return nil
}

// glue instantiates the module that hands a core module its imports.
func (r *instantiation) glue(g *linkedGlue) (api.Module, error) {
	host, core := r.in.linked.host, r.in.core
	ctx := experimental.WithImportResolver(r.ctx, func(name string) api.Module {
		if name == glueHost {
			return host
		}
		for _, s := range g.sources {
			if name == instanceName(s) {
				return core[s]
			}
		}
		return nil
	})
	glue, err := r.in.owner.module(ctx, g.compiled)
	if err != nil {
		return nil, err
	}
	if g.self {
		glue.ExportedGlobal(glueSelf).(api.MutableGlobal).Set(r.in.id)
	}
	return glue, nil
}

// coreConfig makes a core module without a name, so that any number of instances
// may live side by side, and without calling _start: that is for whoever calls the
// component. Nobody asks the engine for random numbers here, but without a source
// it would seed one for each instance, which takes longer than all else of a small
// one.
var coreConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(rand.Reader)

// module instantiates a core module.
func (i *Instance) module(ctx context.Context, compiled wazero.CompiledModule) (api.Module, error) {
	m, err := i.component.runtime.InstantiateModule(ctx, compiled, coreConfig)
	if err != nil {
		return nil, err
	}
	i.modules = append(i.modules, m)
	return m, nil
}
