package component

import "fmt"

// matcher decides whether one type can stand where another is asked for
// (Explainer.md, type checking). bind holds the resources of the wanted side
// that are variables: the first type that meets one decides it.
type matcher struct {
	v    *validator
	bind map[*resource]*resourceType
	// named collects which name each matched type of the wanted side takes.
	named map[anyType]anyType
}

func (v *validator) newMatcher(variables ...[]*resource) *matcher {
	m := &matcher{v: v, bind: map[*resource]*resourceType{}, named: map[anyType]anyType{}}
	for _, list := range variables {
		for _, r := range list {
			m.bind[r] = nil
		}
	}
	return m
}

// substitution applies what has been decided so far.
func (m *matcher) substitution() *substitution {
	s := m.v.newSubstitution()
	for r, to := range m.bind {
		if to != nil {
			s.resources[r] = to
		}
	}
	for from, to := range m.named {
		s.named[from] = to
	}
	return s
}

// extern checks that got can stand where want is asked for.
func (m *matcher) extern(got, want externType) error {
	m.v.work(1)
	if got.sort != want.sort {
		return fmt.Errorf("expected %s, found %s", externWord(want.sort), externWord(got.sort))
	}
	switch want.sort {
	case sortCoreModule:
		return m.module(got.module, want.module)
	case sortType:
		return m.typ(got.typ, want.typ)
	case sortFunc:
		return m.fn(got.typ.(*funcType), want.typ.(*funcType))
	case sortInstance:
		return m.instance(got.typ.(*instanceType), want.typ.(*instanceType))
	default:
		return m.component(got.typ.(*componentType), want.typ.(*componentType))
	}
}

// typ checks a type export or argument: a resource variable is decided here,
// everything else must be the same.
func (m *matcher) typ(got, want anyType) error {
	if g, ok := got.(*resourceType); ok {
		w, ok := want.(*resourceType)
		if !ok {
			return fmt.Errorf("expected %s, found resource", want.describe())
		}
		if decided, variable := m.bind[w.res]; variable && decided == nil {
			m.bind[w.res] = g
		} else if !m.sameResource(g, w) {
			return fmt.Errorf("resource types are not the same")
		}
		m.named[want] = got
		return nil
	}
	if got.describe() != want.describe() {
		return fmt.Errorf("expected %s, found %s", want.describe(), got.describe())
	}
	m.named[want] = got
	return m.same(got, want)
}

// same checks types that are compared both ways. Value and function types have
// no subtyping, so one direction says all.
func (m *matcher) same(got, want anyType) error {
	switch w := want.(type) {
	case *valueDef:
		return m.def(got.(*valueDef), w)
	case *funcType:
		return m.fn(got.(*funcType), w)
	case *instanceType:
		return m.instance(got.(*instanceType), w)
	case *componentType:
		return m.component(got.(*componentType), w)
	}
	return nil
}

func (m *matcher) sameResource(got, want *resourceType) bool {
	if decided := m.bind[want.res]; decided != nil {
		return decided.res == got.res
	}
	return got.res == want.res
}

func (m *matcher) fn(got, want *funcType) error {
	if got == want && len(m.bind) == 0 {
		return nil
	}
	if got.async != want.async {
		return fmt.Errorf("expected %s, found %s", asyncWord(want.async), asyncWord(got.async))
	}
	if len(got.params) != len(want.params) {
		return fmt.Errorf("expected %d parameters, found %d", len(want.params), len(got.params))
	}
	for i, w := range want.params {
		g := got.params[i]
		if g.name != w.name {
			return fmt.Errorf("expected parameter named `%s`, found `%s`", w.name, g.name)
		}
		if err := m.val(g.typ, w.typ); err != nil {
			return fmt.Errorf("type mismatch in function parameter `%s`: %w", w.name, err)
		}
	}
	switch {
	case got.result == nil && want.result == nil:
		return nil
	case want.result == nil: // the reference tools word it the other way round
		return fmt.Errorf("expected a result, found none: the function returns a value, none is asked for")
	case got.result == nil:
		return fmt.Errorf("expected no result, found one: the function returns nothing, a value is asked for")
	}
	if err := m.val(got.result, want.result); err != nil {
		return fmt.Errorf("type mismatch with result type: %w", err)
	}
	return nil
}

func asyncWord(async bool) string {
	if async {
		return "async function"
	}
	return "sync function"
}

func (m *matcher) instance(got, want *instanceType) error {
	if got == want && len(m.bind) == 0 {
		return nil
	}
	for _, name := range want.exports.names {
		g, ok := got.exports.types[name]
		if !ok {
			return fmt.Errorf("missing expected export `%s`", name)
		}
		if err := m.extern(g, want.exports.types[name]); err != nil {
			return fmt.Errorf("type mismatch in instance export `%s`: %w", name, err)
		}
	}
	return nil
}

// component checks a component against a wanted type: what the wanted type
// imports must suffice for what got imports, and what got then exports must
// suffice for what is wanted.
func (m *matcher) component(got, want *componentType) error {
	if got == want && len(m.bind) == 0 {
		return nil
	}
	want = m.substitution().component(want)
	in := m.v.newMatcher(got.imported)
	for _, name := range got.imports.names {
		supplied, ok := want.imports.types[name]
		if !ok {
			return fmt.Errorf("missing expected import `%s`", name)
		}
		if err := in.extern(supplied, got.imports.types[name]); err != nil {
			return fmt.Errorf("type mismatch in import `%s`: %w", name, err)
		}
	}
	got = in.substitution().component(got)
	out := m.v.newMatcher(want.defined)
	for _, name := range want.exports.names {
		g, ok := got.exports.types[name]
		if !ok {
			return fmt.Errorf("missing expected export `%s`", name)
		}
		if err := out.extern(g, want.exports.types[name]); err != nil {
			return fmt.Errorf("type mismatch in export `%s`: %w", name, err)
		}
	}
	return nil
}

func (m *matcher) module(got, want *moduleType) error {
	for _, imp := range got.imports {
		w := want.importNamed(imp.module, imp.name)
		if w == nil {
			return fmt.Errorf("missing expected import `%s::%s`", imp.module, imp.name)
		}
		// The module is given what the wanted type imports.
		if why := coreMismatch(w.typ, imp.typ); why != "" {
			return fmt.Errorf("type mismatch in import `%s::%s`: %s", imp.module, imp.name, why)
		}
	}
	for name, w := range want.exports {
		g, ok := got.exports[name]
		if !ok {
			return fmt.Errorf("missing expected export `%s`", name)
		}
		if why := coreMismatch(g, w); why != "" {
			return fmt.Errorf("type mismatch in export `%s`: %s", name, why)
		}
	}
	return nil
}
