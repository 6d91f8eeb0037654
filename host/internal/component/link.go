package component

import (
	"context"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// link plans the functions of a template and of those within it.
func (c *Component) link(ctx context.Context, t *template) (*linkedTemplate, error) {
	l := &linkedTemplate{template: t, abi: newABI(t.slot), lifts: map[*canonPlan]*liftPlan{},
		nested: map[*template]*linkedTemplate{}, glue: map[glueKey]*linkedGlue{}}
	for _, s := range t.steps {
		switch s := s.(type) {
		case *stepComponent:
			n, err := c.link(ctx, s.template)
			if err != nil {
				return nil, err
			}
			l.nested[s.template] = n
		case *stepLift:
			p, err := l.planLift(s.plan)
			if err != nil {
				return nil, err
			}
			l.lifts[s.plan] = p
		}
	}
	if err := l.planLowers(); err != nil {
		return nil, err
	}
	if err := c.makeHost(ctx, l); err != nil {
		return nil, err
	}
	return l, c.warmGlue(ctx, l)
}

func (l *linkedTemplate) planLift(p *canonPlan) (*liftPlan, error) {
	plan := &liftPlan{canonPlan: p, refused: synchronous(p.fn, p.opts)}
	if plan.refused != nil {
		return plan, nil
	}
	plan.typ = l.abi.fn(p.fn)
	var err error
	plan.dynamic, err = canon.NewDynamicExport(plan.typ)
	return plan, err
}

func (l *linkedTemplate) planLowers() error {
	l.lowers = make([]*canon.HostFunc, len(l.made))
	l.refused = make([]error, len(l.made))
	for i, p := range l.made {
		l.context = l.context || p.op == canonContextGet || p.op == canonContextSet
		if p.op != canonLower {
			continue
		}
		if l.refused[i] = synchronous(p.fn, p.opts); l.refused[i] != nil {
			continue
		}
		f, err := canon.NewDynamicFunc(p.label, l.abi.fn(p.fn), callGuest)
		if err != nil {
			return err
		}
		l.lowers[i] = f
	}
	return nil
}

// makeHost instantiates the Go functions that the glue of all instances
// imports.
func (c *Component) makeHost(ctx context.Context, l *linkedTemplate) error {
	if len(l.made) == 0 {
		return nil
	}
	b := c.runtime.NewHostModuleBuilder("canon")
	for _, p := range l.made {
		params := append(slices.Clone(p.sig.params), valI64)
		b = b.NewFunctionBuilder().WithGoModuleFunction(c.trampoline(p), apiTypes(params), apiTypes(p.sig.results)).
			WithName(p.label).Export(positionName(p.index))
	}
	compiled, err := b.Compile(ctx)
	if err != nil {
		return err
	}
	c.onClose(compiled.Close)
	// Not the builder's Instantiate: the module it gives cannot be resolved.
	l.host, err = c.runtime.InstantiateModule(ctx, compiled, coreConfig)
	if err != nil {
		return err
	}
	c.onClose(l.host.Close)
	return nil
}

func apiTypes(types []valueType) []api.ValueType {
	out := make([]api.ValueType, len(types))
	for i, t := range types {
		out[i] = api.ValueType(t)
	}
	return out
}

// warmGlue compiles the glue of the core modules that are known before
// instantiation: those that are not imported.
func (c *Component) warmGlue(ctx context.Context, l *linkedTemplate) error {
	var modules []*coreModule // by index, nil where only an instance knows
	for _, s := range l.steps {
		switch s := s.(type) {
		case *stepModule:
			modules = append(modules, s.module)
		case *stepImport:
			modules = appendUnknown(modules, s.typ.sort)
		case *stepAlias:
			modules = appendUnknown(modules, s.sort)
		case *stepOuter:
			modules = appendUnknown(modules, s.sort)
		case *stepExport:
			modules = appendUnknown(modules, s.typ.sort)
		case *stepCoreInstantiate:
			if m := modules[s.module]; m != nil {
				if _, err := c.glueOf(ctx, l, s, m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func appendUnknown(modules []*coreModule, k sort) []*coreModule {
	if k == sortCoreModule {
		return append(modules, nil)
	}
	return modules
}

// glueOf gives the glue for one instantiation of a module.
func (c *Component) glueOf(ctx context.Context, l *linkedTemplate, s *stepCoreInstantiate, m *coreModule) (*linkedGlue, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := glueKey{s, m}
	if g, ok := l.glue[key]; ok {
		return g, nil
	}
	g := &linkedGlue{}
	if len(m.typ.imports) > 0 {
		items := make([]coreItem, len(m.typ.imports))
		for i, imp := range m.typ.imports {
			items[i] = s.args[imp.module][imp.name]
		}
		b := glueFor(m.typ.imports, items)
		g.self, g.sources = b.self, b.sources
		var err error
		if g.compiled, err = c.compileGlue(ctx, b.bytes(len(items))); err != nil {
			return nil, err
		}
	}
	l.glue[key] = g
	return g, nil
}

func (c *Component) compileGlue(ctx context.Context, wasm []byte) (wazero.CompiledModule, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.glue[string(wasm)]; ok {
		return m, nil
	}
	m, err := c.runtime.CompileModule(ctx, wasm)
	if err != nil {
		return nil, fmt.Errorf("internal error: glue: %w", err)
	}
	c.glue[string(wasm)] = m
	c.closed = append(c.closed, m.Close)
	return m, nil
}
