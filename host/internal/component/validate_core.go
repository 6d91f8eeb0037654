package component

import "fmt"

// module reads the imports and exports of an embedded core module.
func (v *validator) module(s *scope, d *defModule) error {
	m, err := readModule(v.data, d.start, d.end)
	if err != nil {
		return err
	}
	v.work(len(m.typ.imports) + len(m.typ.exports))
	s.plan.addModule(m)
	return s.push(externType{sort: sortCoreModule, module: m.typ})
}

func (v *validator) coreType(s *scope, raw *rawCoreType) error {
	if !raw.isModule {
		s.coreTypes = append(s.coreTypes, coreTypeEntry{fn: raw.fn})
		return nil
	}
	m, err := v.moduleType(s, raw.decls)
	if err != nil {
		return err
	}
	s.coreTypes = append(s.coreTypes, coreTypeEntry{module: m})
	return nil
}

// moduleType validates a core module type; its type index space starts empty.
func (v *validator) moduleType(s *scope, decls []rawModuleDecl) (*moduleType, error) {
	m := &moduleType{exports: map[string]coreExtern{}}
	var types []*coreFuncType
	seen := map[[2]string]bool{}
	for _, d := range decls {
		v.work(1)
		var err error
		switch d.kind {
		case 0:
			err = m.addImport(d, types, seen)
		case 1:
			types = append(types, d.fn)
		case 2:
			types, err = outerCoreType(s, d, types)
		default:
			err = m.addExport(d, types)
		}
		if err != nil {
			return nil, located(err, d.at)
		}
	}
	return m, nil
}

// outerCoreType aliases a function type into a module type, which itself
// counts as the innermost scope.
func outerCoreType(s *scope, d rawModuleDecl, types []*coreFuncType) ([]*coreFuncType, error) {
	if d.count == 0 {
		t, err := at(types, d.index, "type")
		return append(types, t), err
	}
	o, err := s.outer(d.count - 1)
	if err != nil {
		return nil, fmt.Errorf("invalid outer alias count of %d", d.count)
	}
	t, err := at(o.coreTypes, d.index, "type")
	if err != nil {
		return nil, err
	}
	if t.fn == nil {
		return nil, fmt.Errorf("outer alias in a module type may not refer to a module type")
	}
	return append(types, t.fn), nil
}

func (m *moduleType) addImport(d rawModuleDecl, types []*coreFuncType, seen map[[2]string]bool) error {
	if seen[[2]string{d.module, d.name}] {
		return fmt.Errorf("duplicate import name `%s:%s`", d.module, d.name)
	}
	seen[[2]string{d.module, d.name}] = true
	e, err := resolveCoreExtern(d.desc, types)
	m.imports = append(m.imports, coreImport{d.module, d.name, e})
	return err
}

func (m *moduleType) addExport(d rawModuleDecl, types []*coreFuncType) error {
	if _, ok := m.exports[d.name]; ok {
		return fmt.Errorf("duplicate export name `%s` already defined", d.name)
	}
	e, err := resolveCoreExtern(d.desc, types)
	m.exports[d.name] = e
	return err
}

func resolveCoreExtern(raw rawCoreExtern, types []*coreFuncType) (coreExtern, error) {
	e := coreExtern{sort: raw.sort, table: raw.table, memory: raw.memory, global: raw.global}
	var err error
	switch raw.sort {
	case sortCoreFunc, sortCoreTag:
		e.fn, err = at(types, raw.index, "type")
	case sortCoreMemory:
		err = checkMemory(raw.memory)
	case sortCoreTable:
		if raw.table.limits.hasMax && raw.table.limits.max < raw.table.limits.min {
			err = fmt.Errorf("size minimum must not be greater than maximum")
		}
	}
	return e, err
}

func checkMemory(l limits) error {
	const pages = 1 << 16
	switch {
	case !l.is64 && (l.min > pages || l.hasMax && l.max > pages):
		return fmt.Errorf("memory size must be at most 65536 pages (4GiB)")
	case l.hasMax && l.max < l.min:
		return fmt.Errorf("size minimum must not be greater than maximum")
	}
	return nil
}

func (v *validator) coreInstance(s *scope, d *defCoreInstance) error {
	if d.instantiate {
		return v.coreInstantiate(s, d)
	}
	exports := make(map[string]coreItem, len(d.exports))
	for _, e := range d.exports {
		item, err := s.coreAt(e.sort, e.index)
		if err != nil {
			return err
		}
		if _, ok := exports[e.name]; ok {
			return fmt.Errorf("duplicate export name `%s` already defined", e.name)
		}
		exports[e.name] = item
	}
	s.plan.add(stepCoreBag{})
	return s.addCoreInstance(exports)
}

func (s *scope) addCoreInstance(exports map[string]coreItem) error {
	if len(s.coreInstances) >= maxIndexSpace {
		return fmt.Errorf("more than %d core instances", maxIndexSpace)
	}
	s.coreInstances = append(s.coreInstances, exports)
	return nil
}

func (v *validator) coreInstantiate(s *scope, d *defCoreInstance) error {
	m, err := at(s.modules, d.module, "module")
	if err != nil {
		return err
	}
	args := make(map[string]map[string]coreItem, len(d.args))
	for _, a := range d.args {
		exports, err := at(s.coreInstances, a.instance, "core instance")
		if err != nil {
			return err
		}
		if _, ok := args[a.name]; ok {
			return fmt.Errorf("duplicate module instantiation argument named `%s`", a.name)
		}
		args[a.name] = exports
	}
	if v.links += len(m.imports); v.links > maxLinks {
		return fmt.Errorf("core instances import more than %d items", maxLinks)
	}
	for _, imp := range m.imports {
		v.work(1)
		if err := checkCoreImport(imp, args); err != nil {
			return err
		}
	}
	index := len(s.coreInstances)
	s.plan.add(&stepCoreInstantiate{module: d.module, args: args})
	exports := make(map[string]coreItem, len(m.exports))
	v.work(len(m.exports))
	for name, e := range m.exports {
		exports[name] = coreItem{e, coreRef{instance: index, name: name}}
	}
	return s.addCoreInstance(exports)
}

func checkCoreImport(imp coreImport, args map[string]map[string]coreItem) error {
	exports, ok := args[imp.module]
	if !ok {
		return fmt.Errorf("missing module instantiation argument named `%s`", imp.module)
	}
	item, ok := exports[imp.name]
	if !ok {
		return fmt.Errorf("module instantiation argument `%s` does not export an item named `%s`", imp.module, imp.name)
	}
	if why := coreMismatch(item.typ, imp.typ); why != "" {
		return fmt.Errorf("type mismatch for export `%s` of module instantiation argument `%s`: %s", imp.name, imp.module, why)
	}
	return nil
}
