package component

import (
	"fmt"
	"strings"
)

// typeDef validates a type definition of a component.
func (v *validator) typeDef(s *scope, raw *rawType) error {
	t, err := v.newType(s, raw)
	if err != nil {
		return err
	}
	return s.push(externType{sort: sortType, typ: t})
}

func (v *validator) newType(s *scope, raw *rawType) (anyType, error) {
	switch raw.kind {
	case kindFunc:
		return asAny(v.newFunc(s, raw))
	case kindComponent:
		return asAny(v.newComponentType(s, raw))
	case kindInstance:
		return asAny(v.newInstanceType(s, raw))
	case kindResource:
		return asAny(v.newResource(s, raw))
	}
	d := &valueDef{kind: raw.kind, length: raw.length}
	if err := v.fillDef(s, d, raw); err != nil {
		return nil, err
	}
	return asAny(d, d.settle())
}

// labelWords are how messages call the labels of a kind: the label itself and
// an earlier one it clashes with.
var labelWords = map[kind][2]string{kindRecord: {"record field name", "field name"},
	kindVariant: {"variant case name", "case name"}, kindFlags: {"flag name", "flag name"},
	kindEnum: {"enum tag name", "tag name"}, kindFunc: {"function parameter name", "parameter name"}}

func (v *validator) fillDef(s *scope, d *valueDef, raw *rawType) error {
	var err error
	switch raw.kind {
	case kindRecord, kindVariant:
		if len(raw.fields) == 0 {
			return fmt.Errorf("%s", map[kind]string{kindRecord: "record type must have at least one field",
				kindVariant: "variant type must have at least one case"}[raw.kind])
		}
		d.fields, err = v.fields(s, raw.fields, raw.kind)
	case kindTuple:
		d.elems, err = v.elems(s, raw.elems)
	case kindFlags, kindEnum:
		d.labels, err = raw.labels, checkLabelList(raw)
	case kindFixedList:
		if raw.length == 0 {
			return fmt.Errorf("fixed-length lists must have more than zero elements")
		}
	case kindOwn, kindBorrow:
		d.res, err = s.resourceAt(raw.index)
	}
	if err != nil {
		return err
	}
	if d.elem, err = v.valType(s, raw.elem); err != nil {
		return err
	}
	if d.other, err = v.valType(s, raw.other); err != nil {
		return err
	}
	return checkElem(d)
}

// checkElem holds the element types of streams, futures and maps against
// their rules.
func checkElem(d *valueDef) error {
	if d.elem == nil {
		return nil
	}
	switch d.kind {
	case kindStream, kindFuture:
		if d.elem.facts().borrow {
			return fmt.Errorf("%s element cannot contain a `borrow` type", d.kind)
		}
		if d.kind == kindStream && d.elem.kind() == kindChar {
			return fmt.Errorf("`stream<char>` is not valid at this time")
		}
	case kindMap:
		k := d.elem.kind()
		if !k.primitive() || k == kindF32 || k == kindF64 || k == kindErrorContext {
			return fmt.Errorf("map key type cannot be %s", k)
		}
	}
	return nil
}

func checkLabelList(raw *rawType) error {
	if len(raw.labels) == 0 {
		if raw.kind == kindFlags {
			return fmt.Errorf("flags must have at least one entry")
		}
		return fmt.Errorf("enum type must have at least one variant")
	}
	if raw.kind == kindFlags && len(raw.labels) > maxFlags {
		return fmt.Errorf("cannot have more than %d flags", maxFlags)
	}
	return checkLabels(len(raw.labels), func(i int) string { return raw.labels[i] }, raw.kind)
}

// checkLabels checks that labels are kebab-case and differ by more than case.
func checkLabels(n int, label func(int) string, k kind) error {
	words := labelWords[k]
	seen := make(map[string]string, n)
	for i := range n {
		l := label(i)
		if l == "" {
			return fmt.Errorf("%s cannot be empty", words[0])
		}
		if err := checkKebab(l); err != nil {
			return fmt.Errorf("%s %w", words[0], err)
		}
		key := strings.ToLower(l)
		if prev, ok := seen[key]; ok {
			return fmt.Errorf("%s `%s` conflicts with previous %s `%s`", words[0], l, words[1], prev)
		}
		seen[key] = l
	}
	return nil
}

func (v *validator) fields(s *scope, raw []rawField, k kind) ([]field, error) {
	if err := checkLabels(len(raw), func(i int) string { return raw[i].label }, k); err != nil {
		return nil, err
	}
	out := make([]field, len(raw))
	for i, f := range raw {
		t, err := v.valType(s, f.typ)
		if err != nil {
			return nil, err
		}
		out[i] = field{f.label, t}
	}
	return out, nil
}

func (v *validator) elems(s *scope, raw []rawValType) ([]valType, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("tuple type must have at least one type")
	}
	out := make([]valType, len(raw))
	for i := range raw {
		t, err := v.valType(s, &raw[i])
		if err != nil {
			return nil, err
		}
		out[i] = *t
	}
	return out, nil
}

func (v *validator) valType(s *scope, raw *rawValType) (*valType, error) {
	v.work(1)
	if raw == nil {
		return nil, nil
	}
	if !raw.isRef {
		return &valType{prim: raw.prim}, nil
	}
	t, err := s.typeAt(raw.index)
	if err != nil {
		return nil, err
	}
	d, ok := t.(*valueDef)
	if !ok {
		return nil, fmt.Errorf("type index %d is not a defined type", raw.index)
	}
	return &valType{def: d}, nil
}

func (v *validator) newFunc(s *scope, raw *rawType) (*funcType, error) {
	if len(raw.fields) > maxParams {
		return nil, fmt.Errorf("function with %d parameters, the limit is %d", len(raw.fields), maxParams)
	}
	f := &funcType{async: raw.async, size: 1}
	var err error
	if f.params, err = v.fields(s, raw.fields, kindFunc); err != nil {
		return nil, err
	}
	if f.result, err = v.valType(s, raw.elem); err != nil {
		return nil, err
	}
	if f.result != nil && f.result.facts().borrow {
		return nil, fmt.Errorf("function result cannot contain a `borrow` type")
	}
	for _, p := range f.params {
		f.add(p.typ)
	}
	f.add(f.result)
	return f, checkMeasure(f.size, f.depth)
}

func (f *funcType) add(t *valType) {
	if t != nil {
		f.size += t.facts().size
		f.depth = max(f.depth, t.facts().depth+1)
	}
}

func (v *validator) newResource(s *scope, raw *rawType) (*resourceType, error) {
	if s.kind != scopeComponent {
		return nil, fmt.Errorf("resources can only be defined within a concrete component")
	}
	if raw.rep != valI32 {
		return nil, fmt.Errorf("resources can only be represented by `i32`")
	}
	r := &resourceType{&resource{}}
	step := &stepResource{res: r.res}
	if raw.dtor != nil {
		f, err := s.coreAt(sortCoreFunc, *raw.dtor)
		if err != nil {
			return nil, err
		}
		if !f.typ.fn.equal(&coreFuncType{params: []valueType{valI32}}) {
			return nil, fmt.Errorf("core function %d has wrong signature for a destructor", *raw.dtor)
		}
		step.dtor = &f.ref
	}
	s.local[r.res] = true
	s.defined = append(s.defined, r.res)
	step.slot = s.plan.slot(r.res)
	s.plan.add(step)
	return r, nil
}
