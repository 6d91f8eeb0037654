package component

import "fmt"

// declare resolves the declared type of an import or export. The resources that
// it brings along are new ones, which it gives too: each import of an instance
// type stands for other resources.
func (v *validator) declare(s *scope, raw rawExtern) (externType, []*resource, error) {
	t, err := v.externType(s, raw)
	if err != nil {
		return t, nil, err
	}
	if raw.resource {
		return t, []*resource{t.typ.(*resourceType).res}, nil
	}
	typ, ok := t.typ.(*instanceType)
	if !ok || t.sort != sortInstance || len(typ.defined) == 0 {
		return t, nil, nil
	}
	sub := v.newSubstitution()
	made := sub.fresh(typ.defined)
	c := *sub.instance(typ)
	c.defined = nil
	t.typ = &c
	return t, made, nil
}

// register checks that every type an import or export refers to has itself a
// name outside, and notes the names that it adds.
func (v *validator) register(s *scope, t externType, isImport bool) error {
	if s.kind == scopeInstanceType {
		return nil // instance types are checked where they are attached
	}
	if !v.visible(s, t, isImport) {
		word := "export"
		if isImport {
			word = "import"
		}
		return fmt.Errorf("%s not valid to be used as %s", externWord(t.sort), word)
	}
	return nil
}

func (v *validator) visible(s *scope, t externType, isImport bool) bool {
	v.work(1)
	named := func(x anyType) bool { return s.importedTypes[x] || !isImport && s.exportedTypes[x] }
	switch t.sort {
	case sortType:
		if !v.partsNamed(t.typ, named) {
			return false
		}
		if isImport {
			s.importedTypes[t.typ] = true
		} else {
			s.exportedTypes[t.typ] = true
		}
		return true
	case sortInstance:
		exports := t.typ.(*instanceType).exports
		for _, n := range exports.names {
			if !v.visible(s, exports.types[n], isImport) {
				return false
			}
		}
		return true
	case sortFunc:
		return v.partsNamed(t.typ, named)
	}
	return true // components and modules are closed
}

// partsNamed says whether every nameable type that t refers to has a name.
func (v *validator) partsNamed(t anyType, named func(anyType) bool) bool {
	switch t := t.(type) {
	case *valueDef:
		return v.defNamed(t, named)
	case *funcType:
		for _, p := range t.params {
			if !v.valNamed(p.typ, named) {
				return false
			}
		}
		return v.valNamed(t.result, named)
	case *instanceType:
		return v.externsNamed(t.exports, named)
	}
	return true
}

func (v *validator) externsNamed(e externs, named func(anyType) bool) bool {
	// What an instance type exports is a name within it.
	inner := map[anyType]bool{}
	within := func(x anyType) bool { return inner[x] || named(x) }
	for _, n := range e.names {
		t := e.types[n]
		if t.sort == sortComponent || t.sort == sortCoreModule {
			continue
		}
		if !v.partsNamed(t.typ, within) {
			return false
		}
		if t.sort == sortType {
			inner[t.typ] = true
		}
	}
	return true
}

func (v *validator) defNamed(d *valueDef, named func(anyType) bool) bool {
	v.work(1)
	if d.res != nil {
		return named(d.res)
	}
	all := true
	d.eachPart(func(p *valType) { all = all && v.valNamed(p, named) })
	return all
}

func (v *validator) valNamed(t *valType, named func(anyType) bool) bool {
	if t == nil || t.def == nil {
		return true
	}
	switch t.def.kind {
	case kindRecord, kindVariant, kindFlags, kindEnum:
		return named(t.def)
	}
	return v.defNamed(t.def, named)
}
