package component

import "fmt"

func (v *validator) instance(s *scope, d *defInstance) error {
	if d.instantiate {
		return v.instantiate(s, d)
	}
	return v.bag(s, d)
}

// bag validates an instance made of exports.
func (v *validator) bag(s *scope, d *defInstance) error {
	t := &instanceType{}
	names := newNameSet("export")
	step := &stepBag{}
	for _, e := range d.exports {
		ext, err := s.extern(e.sort, e.index)
		if err != nil {
			return err
		}
		// The functions of the bundle speak of other names of its resources, so
		// none of them can be a member of one.
		named := ext
		if ext.sort == sortType {
			named.typ = rename(ext.typ)
		}
		if err := names.add(e.name, named); err != nil {
			return err
		}
		t.exports.add(e.name.name, ext)
		step.exports = append(step.exports, namedItem{e.name.name, s.plan.item(ext, e.index)})
	}
	var err error
	if t.size, t.depth, err = measure(t.exports); err != nil {
		return err
	}
	step.typ = t
	s.plan.add(step)
	return s.push(externType{sort: sortInstance, typ: t})
}

// instantiate validates the instantiation of a component: each import gets an
// argument whose type suffices, and the exports are specialized to what was
// given.
func (v *validator) instantiate(s *scope, d *defInstance) error {
	c, err := at(s.components, d.component, "component")
	if err != nil {
		return err
	}
	args, step, err := v.arguments(s, d)
	if err != nil {
		return err
	}
	m := v.newMatcher(c.imported)
	for _, name := range c.imports.names {
		got, ok := args[name]
		if !ok {
			return fmt.Errorf("missing import named `%s`", name)
		}
		if err := m.extern(got, c.imports.types[name]); err != nil {
			return fmt.Errorf("type mismatch for component instantiation argument `%s`: %w", name, err)
		}
	}
	sub := m.substitution()
	made := sub.fresh(c.defined)
	exports, _ := sub.externs(c.exports)
	t := &instanceType{exports: exports}
	if t.size, t.depth, err = measure(exports); err != nil {
		return err
	}
	s.defined = append(s.defined, made...)
	ext := externType{sort: sortInstance, typ: t}
	step.typ = t
	step.binds = s.plan.bindings(ext, made)
	s.plan.add(step)
	return s.push(ext)
}

func (v *validator) arguments(s *scope, d *defInstance) (map[string]externType, *stepInstantiate, error) {
	args := make(map[string]externType, len(d.args))
	step := &stepInstantiate{component: d.component}
	for _, a := range d.args {
		ext, err := s.extern(a.sort, a.index)
		if err != nil {
			return nil, nil, err
		}
		if _, ok := args[a.name]; ok {
			return nil, nil, fmt.Errorf("instantiation argument `%s` conflicts with previous argument `%s`", a.name, a.name)
		}
		args[a.name] = ext
		step.args = append(step.args, namedItem{a.name, s.plan.item(ext, a.index)})
	}
	return args, step, nil
}

func (v *validator) alias(s *scope, d *defAlias) error {
	if s.kind != scopeComponent && !aliasAllowedInType(d) {
		return fmt.Errorf("aliases in component and instance types may only refer to types or instances")
	}
	switch d.kind {
	case aliasExport:
		return v.aliasExport(s, d)
	case aliasCoreExport:
		return v.aliasCoreExport(s, d)
	}
	return v.aliasOuter(s, d)
}

func aliasAllowedInType(d *defAlias) bool {
	if d.kind == aliasExport {
		return d.sort == sortInstance || d.sort == sortType
	}
	return d.kind == aliasOuter && (d.sort == sortCoreType || d.sort == sortType)
}

func (v *validator) aliasExport(s *scope, d *defAlias) error {
	i, err := at(s.instances, d.instance, "instance")
	if err != nil {
		return err
	}
	t, ok := i.exports.types[d.name]
	if !ok {
		return fmt.Errorf("instance %d has no export named `%s`", d.instance, d.name)
	}
	if t.sort != d.sort {
		return fmt.Errorf("export `%s` for instance %d is not a %s", d.name, d.instance, externWord(d.sort))
	}
	if from := s.itemNames[itemRef{sort: sortInstance, index: d.instance}]; from != "" {
		s.nameItem(d.sort, member(from, d.name))
	}
	if s.plan != nil {
		s.plan.add(&stepAlias{sort: d.sort, instance: d.instance, name: d.name})
	}
	return s.push(t)
}

func (v *validator) aliasCoreExport(s *scope, d *defAlias) error {
	exports, err := at(s.coreInstances, d.instance, "core instance")
	if err != nil {
		return err
	}
	item, ok := exports[d.name]
	if !ok {
		return fmt.Errorf("core instance %d has no export named `%s`", d.instance, d.name)
	}
	if item.typ.sort != d.sort {
		return fmt.Errorf("export `%s` for core instance %d is not a %s", d.name, d.instance, coreSortWord(d.sort))
	}
	s.core[d.sort] = append(s.core[d.sort], item)
	return nil
}

func (v *validator) aliasOuter(s *scope, d *defAlias) error {
	o, err := s.outer(d.count)
	if err != nil {
		return err
	}
	if d.sort == sortCoreType {
		t, err := at(o.coreTypes, d.index, "core type")
		if err != nil {
			return err
		}
		s.coreTypes = append(s.coreTypes, t)
		return nil
	}
	t, err := o.extern(d.sort, d.index)
	if err != nil {
		return err
	}
	if s.crossesComponent(d.count) && d.sort == sortType && v.freeResources(t.typ) {
		return fmt.Errorf("cannot alias outer type which transitively refers to resources not defined in the current component")
	}
	if s.plan != nil && d.sort != sortType {
		s.plan.add(&stepOuter{sort: d.sort, count: d.count, index: d.index})
	}
	return s.push(t)
}

// freeResources says whether a type refers to a resource that it does not
// itself introduce.
func (v *validator) freeResources(t anyType) bool {
	f := &freeWalk{v: v, seen: map[anyType]bool{}, bound: map[*resource]bool{}, used: map[*resource]bool{}}
	f.any(t)
	for r := range f.used {
		if !f.bound[r] {
			return true
		}
	}
	return false
}

type freeWalk struct {
	v           *validator
	seen        map[anyType]bool
	bound, used map[*resource]bool
}

func (f *freeWalk) any(t anyType) {
	if t == nil || f.seen[t] {
		return
	}
	f.seen[t] = true
	f.v.work(1)
	switch t := t.(type) {
	case *resourceType:
		f.used[t.res] = true
	case *valueDef:
		if t.res != nil {
			f.any(t.res)
		}
		t.eachPart(func(p *valType) { f.val(p) })
	case *funcType:
		for _, p := range t.params {
			f.val(p.typ)
		}
		f.val(t.result)
	case *instanceType:
		f.bind(t.defined)
		f.externs(t.exports)
	case *componentType:
		f.bind(t.imported)
		f.bind(t.defined)
		f.externs(t.imports)
		f.externs(t.exports)
	}
}

func (f *freeWalk) val(t *valType) {
	if t != nil && t.def != nil {
		f.any(t.def)
	}
}

func (f *freeWalk) externs(e externs) {
	for _, n := range e.names {
		f.any(e.types[n].typ)
	}
}

func (f *freeWalk) bind(list []*resource) {
	for _, r := range list {
		f.bound[r] = true
	}
}
