package component

func (v *validator) newComponentType(s *scope, raw *rawType) (*componentType, error) {
	in := newScope(scopeComponentType, s)
	if err := v.decls(in, raw.decls); err != nil {
		return nil, err
	}
	return in.componentType()
}

func (v *validator) newInstanceType(s *scope, raw *rawType) (*instanceType, error) {
	in := newScope(scopeInstanceType, s)
	if err := v.decls(in, raw.decls); err != nil {
		return nil, err
	}
	t := &instanceType{exports: in.exports, defined: in.defined}
	var err error
	t.size, t.depth, err = measure(t.exports)
	return t, err
}

// decls validates the inside of a component or instance type.
func (v *validator) decls(s *scope, decls []rawDecl) error {
	for _, d := range decls {
		v.work(1)
		var err error
		switch {
		case d.coreType != nil:
			err = v.coreType(s, d.coreType)
		case d.typ != nil:
			err = v.typeDef(s, d.typ)
		case d.alias != nil:
			err = v.alias(s, d.alias)
		case d.imp != nil:
			err = v.importDef(s, d.imp)
		default:
			err = v.exportDecl(s, d.exp)
		}
		if err != nil {
			return located(err, d.at)
		}
	}
	return nil
}

// exportDecl validates an export of a component or instance type.
func (v *validator) exportDecl(s *scope, d *defImport) error {
	t, created, err := v.declare(s, d.typ)
	if err != nil {
		return err
	}
	nameResources(d.name.name, t)
	if err := s.exportNames.add(d.name, t); err != nil {
		return err
	}
	if err := v.register(s, t, false); err != nil {
		return err
	}
	s.exports.add(d.name.name, t)
	s.defined = append(s.defined, created...)
	return s.push(t)
}

// nameResources gives a resource the name it is first imported or exported
// under, for messages.
func nameResources(name string, t externType) {
	if r, ok := t.typ.(*resourceType); ok && r.res.name == "" {
		r.res.name = name
	}
}
