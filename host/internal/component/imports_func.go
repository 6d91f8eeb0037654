package component

import (
	"fmt"
	"slices"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// fn checks that a function has the type that is imported.
func (r *importResolver) fn(item any, want *funcType) error {
	t := &typeCheck{bound: r.bound}
	var got *canon.FuncType
	switch f := item.(type) {
	case *HostFunc:
		got = f.Plan.Type()
		t.resolve = func(rt *canon.ResourceType) *canon.Resource { return rt.Fixed }
	case *Func:
		got = f.Type()
		t.resolve = f.Resource
	}
	if got == nil { // a stub, or a function that only traps
		return nil
	}
	return t.fn(got, want)
}

// typeCheck compares types of the canonical ABI, whose resources resolve to
// run-time ones, with those of a component.
type typeCheck struct {
	bound   map[*resource]*canon.Resource
	resolve func(*canon.ResourceType) *canon.Resource
}

func (t *typeCheck) fn(got *canon.FuncType, want *funcType) error {
	if want.async {
		return fmt.Errorf("expected an async function, found a sync function")
	}
	if len(got.Params) != len(want.params) {
		return fmt.Errorf("expected %d parameters, found %d", len(want.params), len(got.Params))
	}
	for i, w := range want.params {
		g := got.Params[i]
		if err := t.val(g.Type, w.typ); err != nil {
			return fmt.Errorf("type mismatch with parameter %d (`%s`): %w", i+1, w.name, err)
		}
	}
	if (got.Result == nil) != (want.result == nil) {
		return fmt.Errorf("type mismatch with result: one function returns a value, the other nothing")
	}
	if want.result == nil {
		return nil
	}
	if err := t.val(got.Result, want.result); err != nil {
		return fmt.Errorf("type mismatch with result: %w", err)
	}
	return nil
}

func (t *typeCheck) val(got *canon.Type, want *valType) error {
	k := want.kind()
	if got.Kind() != canonKind(k) {
		return fmt.Errorf("expected `%s` found `%s`", k, got.Kind())
	}
	if k.primitive() {
		return nil
	}
	d := want.def
	switch k {
	case kindRecord, kindTuple:
		return t.fields(got.Fields(), d)
	case kindVariant, kindOption, kindResult:
		return t.cases(got.Cases(), d)
	case kindFlags, kindEnum:
		if !slices.Equal(got.Labels(), d.labels) {
			return fmt.Errorf("mismatch in %s labels: expected %v, found %v", k, d.labels, got.Labels())
		}
		return nil
	case kindOwn, kindBorrow:
		if t.resolve(got.Resource()) != t.bound[d.res.res] {
			return fmt.Errorf("mismatched resource types")
		}
		return nil
	case kindMap:
		pair := got.Elem().Fields()
		if err := t.val(pair[0].Type, d.elem); err != nil {
			return err
		}
		return t.val(pair[1].Type, d.other)
	case kindFixedList:
		if got.Len() != d.length {
			return fmt.Errorf("expected a list of %d elements, found %d", d.length, got.Len())
		}
	}
	return t.opt(got.Elem(), d.elem)
}

func (t *typeCheck) opt(got *canon.Type, want *valType) error {
	if got == nil || want == nil {
		if got == nil && want == nil {
			return nil
		}
		return fmt.Errorf("one type has a payload, the other none")
	}
	return t.val(got, want)
}

func (t *typeCheck) fields(got []canon.Field, want *valueDef) error {
	var types []*valType
	want.eachPart(func(p *valType) { types = append(types, p) })
	if len(got) != len(types) {
		return fmt.Errorf("expected %d fields, found %d", len(types), len(got))
	}
	for i, w := range types {
		if want.kind == kindRecord && got[i].Name != want.fields[i].name {
			return fmt.Errorf("expected field `%s`, found `%s`", want.fields[i].name, got[i].Name)
		}
		if err := t.val(got[i].Type, w); err != nil {
			return fmt.Errorf("field `%s`: %w", got[i].Name, err)
		}
	}
	return nil
}

func (t *typeCheck) cases(got []canon.Case, want *valueDef) error {
	cases := want.fields
	switch want.kind {
	case kindOption:
		cases = []field{{"none", nil}, {"some", want.elem}}
	case kindResult:
		cases = []field{{"ok", want.elem}, {"error", want.other}}
	}
	if len(got) != len(cases) {
		return fmt.Errorf("expected %d cases, found %d", len(cases), len(got))
	}
	for i, w := range cases {
		if got[i].Name != w.name {
			return fmt.Errorf("expected case `%s`, found `%s`", w.name, got[i].Name)
		}
		if err := t.opt(got[i].Type, w.typ); err != nil {
			return fmt.Errorf("case `%s`: %w", w.name, err)
		}
	}
	return nil
}

var compoundKinds = map[kind]canon.Kind{kindRecord: canon.KindRecord, kindVariant: canon.KindVariant,
	kindList: canon.KindList, kindFixedList: canon.KindFixedList, kindTuple: canon.KindTuple, kindFlags: canon.KindFlags,
	kindEnum: canon.KindEnum, kindOption: canon.KindOption, kindResult: canon.KindResult, kindOwn: canon.KindOwn,
	kindBorrow: canon.KindBorrow, kindStream: canon.KindStream, kindFuture: canon.KindFuture, kindMap: canon.KindMap}

func canonKind(k kind) canon.Kind {
	if k.primitive() {
		return primKinds[k]
	}
	return compoundKinds[k]
}
