package component

// substitution puts types in the place of others: what instantiation supplies
// in the place of imports, fresh resources in the place of declared ones
// (Explainer.md, type checking). A part that nothing changes in keeps its
// pointer.
type substitution struct {
	v *validator
	// resources maps the identity of a resource to its stand-in.
	resources map[*resource]*resourceType
	// named maps one name of a type to the type supplied for it.
	named map[anyType]anyType
	memo  map[anyType]anyType
}

func (v *validator) newSubstitution() *substitution {
	return &substitution{v: v, resources: map[*resource]*resourceType{}, named: map[anyType]anyType{}, memo: map[anyType]anyType{}}
}

// fresh makes stand-ins for resources and gives them.
func (s *substitution) fresh(old []*resource) []*resource {
	made := make([]*resource, len(old))
	for i, r := range old {
		made[i] = &resource{name: r.name}
		s.resources[r] = &resourceType{made[i]}
	}
	return made
}

func (s *substitution) empty() bool { return len(s.resources) == 0 && len(s.named) == 0 }

func (s *substitution) any(t anyType) anyType {
	if s.empty() {
		return t
	}
	if n, ok := s.named[t]; ok {
		return n
	}
	if n, ok := s.memo[t]; ok {
		return n
	}
	s.v.work(1)
	var n anyType
	switch t := t.(type) {
	case *resourceType:
		n = s.resource(t)
	case *valueDef:
		n = s.def(t)
	case *funcType:
		n = s.fn(t)
	case *instanceType:
		n = s.instance(t)
	case *componentType:
		n = s.component(t)
	}
	s.memo[t] = n
	return n
}

func (s *substitution) resource(t *resourceType) *resourceType {
	if to, ok := s.resources[t.res]; ok {
		return &resourceType{to.res}
	}
	return t
}

func (s *substitution) val(v *valType) *valType {
	if v == nil || v.def == nil {
		return v
	}
	if d := s.any(v.def); d != anyType(v.def) {
		return &valType{def: d.(*valueDef)}
	}
	return v
}

func (s *substitution) fieldList(fields []field) ([]field, bool) {
	changed := false
	out := make([]field, len(fields))
	for i, f := range fields {
		out[i] = field{f.name, s.val(f.typ)}
		changed = changed || out[i].typ != f.typ
	}
	if !changed {
		return fields, false
	}
	return out, true
}

func (s *substitution) def(t *valueDef) *valueDef {
	s.v.work(len(t.fields) + len(t.elems))
	c := *t
	var changed bool
	c.fields, changed = s.fieldList(t.fields)
	c.elems = make([]valType, len(t.elems))
	for i := range t.elems {
		v := s.val(&t.elems[i])
		changed = changed || v != &t.elems[i]
		c.elems[i] = *v
	}
	c.elem, c.other = s.val(t.elem), s.val(t.other)
	changed = changed || c.elem != t.elem || c.other != t.other
	if t.res != nil {
		c.res = s.any(t.res).(*resourceType)
		changed = changed || c.res != t.res
	}
	if !changed {
		return t
	}
	return &c
}

func (s *substitution) fn(t *funcType) *funcType {
	s.v.work(len(t.params))
	c := *t
	var changed bool
	c.params, changed = s.fieldList(t.params)
	c.result = s.val(t.result)
	if !changed && c.result == t.result {
		return t
	}
	return &c
}

func (s *substitution) extern(e externType) externType {
	if e.typ != nil {
		e.typ = s.any(e.typ)
	}
	return e
}

func (s *substitution) externs(e externs) (externs, bool) {
	s.v.work(len(e.names))
	changed := false
	var out externs
	for _, n := range e.names {
		old := e.types[n]
		t := s.extern(old)
		changed = changed || t.typ != old.typ
		out.add(n, t)
	}
	if !changed {
		return e, false
	}
	return out, true
}

func (s *substitution) instance(t *instanceType) *instanceType {
	exports, changed := s.externs(t.exports)
	if !changed {
		return t
	}
	c := *t
	c.exports = exports
	return &c
}

func (s *substitution) component(t *componentType) *componentType {
	imports, changedImports := s.externs(t.imports)
	exports, changedExports := s.externs(t.exports)
	if !changedImports && !changedExports {
		return t
	}
	c := *t
	c.imports, c.exports = imports, exports
	return &c
}
