package component

import (
	"errors"
	"fmt"
)

// validator checks what a decoded binary means and builds the plan that
// instances follow.
type validator struct {
	data   []byte
	budget int
	links  int
	// canons and planned count canonical functions and the nodes of their types.
	canons, planned int
}

// errWork ends a validation whose type checking would take too long. It is
// thrown from deep recursion and caught in validate alone.
var errWork = errors.New("the types of the component are too much work to check")

// work accounts for n visited type nodes.
func (v *validator) work(n int) {
	if v.budget -= n; v.budget < 0 {
		panic(errWork)
	}
}

// validate checks a decoded component and gives its plan.
func validate(data []byte, raw *rawComponent) (t *template, err error) {
	v := &validator{data: data, budget: maxTypeWork}
	defer func() {
		if r := recover(); r == any(errWork) {
			err = errorAt(raw.at, "%s", errWork)
		} else if r != nil {
			panic(r)
		}
	}()
	s := newScope(scopeComponent, nil)
	if err := v.body(s, raw); err != nil {
		return nil, err
	}
	return s.plan, checkRoot(s, raw)
}

// body validates the definitions of a component in order.
func (v *validator) body(s *scope, raw *rawComponent) error {
	for _, d := range raw.defs {
		v.work(1)
		if err := v.def(s, d); err != nil {
			return located(err, d.position())
		}
	}
	t, err := s.componentType()
	if err != nil {
		return located(err, raw.at)
	}
	s.plan.finish(t, raw.customs)
	return nil
}

// located gives an error a position unless it has one.
func located(err error, offset int) error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return errorAt(offset, "%s", err)
}

func (v *validator) def(s *scope, d def) error {
	switch d := d.(type) {
	case *defModule:
		return v.module(s, d)
	case *defCoreInstance:
		return v.coreInstance(s, d)
	case *defCoreType:
		return v.coreType(s, &d.typ)
	case *defComponent:
		return v.nested(s, d)
	case *defInstance:
		return v.instance(s, d)
	case *defAlias:
		return v.alias(s, d)
	case *defType:
		return v.typeDef(s, &d.typ)
	case *defCanon:
		return v.canon(s, d)
	case *defImport:
		return v.importDef(s, d)
	default:
		return v.exportDef(s, d.(*defExport))
	}
}

// componentType sums up a finished component or component type.
func (s *scope) componentType() (*componentType, error) {
	t := &componentType{imports: s.imports, exports: s.exports, imported: s.imported, defined: s.defined}
	var err error
	t.size, t.depth, err = measure(t.imports, t.exports)
	return t, err
}

// nested validates a component within a component.
func (v *validator) nested(s *scope, d *defComponent) error {
	in := newScope(scopeComponent, s)
	if err := v.body(in, d.body); err != nil {
		return err
	}
	s.plan.add(&stepComponent{in.plan})
	return s.push(externType{sort: sortComponent, typ: in.plan.typ})
}

// checkRoot refuses what only makes sense between components: nobody can
// supply a component to the outermost one or take one from it.
func checkRoot(s *scope, raw *rawComponent) error {
	for _, n := range s.imports.names {
		if s.imports.types[n].sort == sortComponent {
			return errorAt(raw.at, "root-level component imports are not supported (import `%s`)", n)
		}
	}
	for _, n := range s.exports.names {
		if s.exports.types[n].sort == sortComponent {
			return errorAt(raw.at, "exporting a component from the root component is not supported (export `%s`)", n)
		}
	}
	for _, c := range raw.customs {
		if c.Name == "wit-component-encoding" && len(s.plan.modules) == 0 {
			return errorAt(raw.at, "this is a WIT package in binary form: it holds types and nothing that can run")
		}
	}
	if n := s.plan.reexport; n != "" {
		return errorAt(raw.at, "component export `%s` is a reexport of an imported function which is not implemented", n)
	}
	return nil
}

// importDef validates an import and its visibility.
func (v *validator) importDef(s *scope, d *defImport) error {
	t, created, err := v.declare(s, d.typ)
	if err != nil {
		return err
	}
	nameResources(d.name.name, t)
	if err := s.importNames.add(d.name, t); err != nil {
		return err
	}
	if err := v.register(s, t, true); err != nil {
		return err
	}
	if t.sort == sortFunc {
		s.importedFuncs[len(s.funcs)] = true
	}
	s.nameItem(t.sort, d.name.name)
	s.imports.add(d.name.name, t)
	s.imported = append(s.imported, created...)
	if s.plan != nil {
		s.plan.add(&stepImport{name: d.name.name, typ: t, binds: s.plan.bindings(t, created)})
	}
	return s.push(t)
}

// exportDef validates an export of a component.
func (v *validator) exportDef(s *scope, d *defExport) error {
	t, err := s.extern(d.sort, d.index)
	if err != nil {
		return err
	}
	step := &stepExport{name: d.name.name, item: s.plan.item(t, d.index), opaque: -1}
	if d.ascribed != nil {
		if t, err = v.ascribe(s, t, *d.ascribed); err != nil {
			return err
		}
		if d.ascribed.resource {
			// To the outside, and from here on, it is another resource.
			r := t.typ.(*resourceType).res
			step.opaque = s.plan.slot(r)
			s.defined = append(s.defined, r)
		}
	}
	if t.sort == sortType {
		t.typ = rename(t.typ)
	}
	nameResources(d.name.name, t)
	if err := s.exportNames.add(d.name, t); err != nil {
		return err
	}
	if err := v.register(s, t, false); err != nil {
		return err
	}
	if d.sort == sortFunc && s.importedFuncs[int(d.index)] {
		s.plan.reexport = d.name.name
	}
	s.exports.add(d.name.name, t)
	step.typ = t
	s.plan.add(step)
	return s.push(t)
}

// ascribe checks the declared type of an export against the real one. A type
// keeps its identity, everything else takes the declared type.
func (v *validator) ascribe(s *scope, got externType, raw rawExtern) (externType, error) {
	want, err := v.externType(s, raw)
	if err != nil {
		return got, err
	}
	m := v.newMatcher()
	if raw.resource {
		m.bind[want.typ.(*resourceType).res] = nil
	}
	if t, ok := want.typ.(*instanceType); ok {
		m = v.newMatcher(t.defined)
	}
	if err := m.extern(got, want); err != nil {
		return got, fmt.Errorf("ascribed type of export is not compatible with item's type: %w", err)
	}
	if want.sort == sortType && !raw.resource {
		return got, nil
	}
	if raw.resource {
		return want, nil
	}
	return m.substitution().extern(want), nil
}

// externType resolves the declared type of an import or export.
func (v *validator) externType(s *scope, raw rawExtern) (externType, error) {
	t := externType{sort: raw.sort}
	var err error
	switch raw.sort {
	case sortCoreModule:
		t.module, err = s.moduleTypeAt(raw.index)
	case sortFunc:
		t.typ, err = asAny(s.funcTypeAt(raw.index))
	case sortComponent:
		t.typ, err = asAny(s.componentTypeAt(raw.index))
	case sortInstance:
		t.typ, err = asAny(s.instanceTypeAt(raw.index))
	case sortType:
		if raw.resource {
			t.typ = &resourceType{&resource{}}
		} else if t.typ, err = s.typeAt(raw.index); err == nil {
			t.typ = rename(t.typ)
		}
	}
	return t, err
}

func asAny[T anyType](t T, err error) (anyType, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}
