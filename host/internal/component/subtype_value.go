package component

import (
	"fmt"
	"slices"
)

// val compares two value types.
func (m *matcher) val(got, want *valType) error {
	gk, wk := got.kind(), want.kind()
	if gk.primitive() && wk.primitive() {
		if gk != wk {
			return fmt.Errorf("expected primitive `%s` found primitive `%s`", wk, gk)
		}
		return nil
	}
	if gk.primitive() || wk.primitive() {
		return fmt.Errorf("expected %s, found %s", wk, gk)
	}
	return m.def(got.def, want.def)
}

// def compares two defined types; they must have the same structure.
func (m *matcher) def(got, want *valueDef) error {
	if got == want && !want.resources {
		return nil
	}
	m.v.work(1 + len(want.fields) + len(want.elems))
	if got.kind != want.kind {
		return kindMismatch(got.kind, want.kind)
	}
	switch want.kind {
	case kindRecord:
		return m.record(got, want)
	case kindVariant:
		return m.variant(got, want)
	case kindTuple:
		return m.tuple(got, want)
	case kindFlags, kindEnum:
		if !slices.Equal(got.labels, want.labels) {
			return fmt.Errorf("mismatch in %s elements", want.kind)
		}
		return nil
	case kindOwn, kindBorrow:
		if !m.sameResource(got.res, want.res) {
			return fmt.Errorf("resource types are not the same")
		}
		return nil
	case kindFixedList:
		if got.length != want.length {
			return fmt.Errorf("expected a list of %d elements, found %d", want.length, got.length)
		}
	}
	return m.parts(got, want)
}

func kindMismatch(got, want kind) error {
	switch {
	case want.primitive() && got.primitive():
		return fmt.Errorf("expected primitive `%s` found primitive `%s`", want, got)
	case want.primitive():
		return fmt.Errorf("expected primitive, found %s", got)
	}
	return fmt.Errorf("expected %s, found %s", want, got)
}

func (m *matcher) record(got, want *valueDef) error {
	if len(got.fields) != len(want.fields) {
		return fmt.Errorf("expected %d fields, found %d", len(want.fields), len(got.fields))
	}
	for i, w := range want.fields {
		g := got.fields[i]
		if g.name != w.name {
			return fmt.Errorf("expected field name `%s`, found `%s`", w.name, g.name)
		}
		if err := m.val(g.typ, w.typ); err != nil {
			return fmt.Errorf("type mismatch in record field `%s`: %w", w.name, err)
		}
	}
	return nil
}

func (m *matcher) variant(got, want *valueDef) error {
	if len(got.fields) != len(want.fields) {
		return fmt.Errorf("expected %d cases, found %d", len(want.fields), len(got.fields))
	}
	for i, w := range want.fields {
		g := got.fields[i]
		switch {
		case g.name != w.name:
			return fmt.Errorf("expected case named `%s`, found `%s`", w.name, g.name)
		case w.typ != nil && g.typ == nil:
			return fmt.Errorf("expected case `%s` to have a type, found none", w.name)
		case w.typ == nil && g.typ != nil:
			return fmt.Errorf("expected case `%s` to have no type", w.name)
		case w.typ != nil:
			if err := m.val(g.typ, w.typ); err != nil {
				return fmt.Errorf("type mismatch in variant case `%s`: %w", w.name, err)
			}
		}
	}
	return nil
}

func (m *matcher) tuple(got, want *valueDef) error {
	if len(got.elems) != len(want.elems) {
		return fmt.Errorf("expected %d types, found %d", len(want.elems), len(got.elems))
	}
	for i := range want.elems {
		if err := m.val(&got.elems[i], &want.elems[i]); err != nil {
			return fmt.Errorf("type mismatch in tuple field %d: %w", i, err)
		}
	}
	return nil
}

// parts compares the one or two types that a list, option, result, map, stream
// or future is made of.
func (m *matcher) parts(got, want *valueDef) error {
	first, second := want.kind.String(), want.kind.String()
	if want.kind == kindResult {
		first, second = "ok", "err"
	}
	if err := m.part(got.elem, want.elem, first, want.kind); err != nil {
		return err
	}
	return m.part(got.other, want.other, second, want.kind)
}

func (m *matcher) part(got, want *valType, name string, k kind) error {
	switch {
	case got == nil && want == nil:
		return nil
	case want == nil:
		return fmt.Errorf("expected %s type to not be present", name)
	case got == nil:
		return fmt.Errorf("expected %s type, but found none", name)
	}
	if err := m.val(got, want); err != nil {
		if k == kindResult {
			return fmt.Errorf("type mismatch in %s variant: %w", name, err)
		}
		return fmt.Errorf("type mismatch in %s: %w", name, err)
	}
	return nil
}
