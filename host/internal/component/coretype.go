package component

import (
	"fmt"
	"slices"
	"strings"
)

// valueType is a core value type by its binary code.
type valueType byte

const (
	valI32       valueType = 0x7f
	valI64       valueType = 0x7e
	valF32       valueType = 0x7d
	valF64       valueType = 0x7c
	valV128      valueType = 0x7b
	valFuncref   valueType = 0x70
	valExternref valueType = 0x6f
	valExnref    valueType = 0x69
)

var valueTypeNames = map[valueType]string{valI32: "i32", valI64: "i64", valF32: "f32", valF64: "f64", valV128: "v128",
	valFuncref: "funcref", valExternref: "externref", valExnref: "exnref"}

func (v valueType) String() string { return valueTypeNames[v] }

type coreFuncType struct{ params, results []valueType }

func (f *coreFuncType) equal(g *coreFuncType) bool {
	return slices.Equal(f.params, g.params) && slices.Equal(f.results, g.results)
}

// String writes the type as text does: (func (param i32) (result i32)).
func (f *coreFuncType) String() string {
	var b strings.Builder
	b.WriteString("(func")
	writeTypes(&b, "param", f.params)
	writeTypes(&b, "result", f.results)
	b.WriteString(")")
	return b.String()
}

func writeTypes(b *strings.Builder, word string, types []valueType) {
	if len(types) == 0 {
		return
	}
	b.WriteString(" (" + word)
	for _, t := range types {
		b.WriteString(" " + t.String())
	}
	b.WriteString(")")
}

type limits struct {
	min, max             uint64
	hasMax, shared, is64 bool
	pageSize             uint32 // log2 of the page size plus one; 0 is the default
}

// within says whether something of limits l can stand where m is asked for.
func (l limits) within(m limits) bool {
	return l.min >= m.min && (!m.hasMax || l.hasMax && l.max <= m.max)
}

type tableType struct {
	elem   valueType
	limits limits
}

type globalType struct {
	value   valueType
	mutable bool
}

// coreExtern is the type of a core import or export.
type coreExtern struct {
	sort   sort
	fn     *coreFuncType // functions and tags
	table  tableType
	memory limits
	global globalType
}

// coreSortWord is the word the reference tools use in mismatches.
func coreSortWord(s sort) string {
	if s == sortCoreFunc {
		return "func"
	}
	return s.String()
}

// coreImport is one import of a core module.
type coreImport struct {
	module, name string
	typ          coreExtern
}

// moduleType is what a core module imports and exports.
type moduleType struct {
	imports []coreImport
	exports map[string]coreExtern
}

func (m *moduleType) importNamed(module, name string) *coreImport {
	for i := range m.imports {
		if m.imports[i].module == module && m.imports[i].name == name {
			return &m.imports[i]
		}
	}
	return nil
}

// coreMismatch says why got cannot stand where want is asked for, or "".
func coreMismatch(got, want coreExtern) string {
	if got.sort != want.sort {
		return fmt.Sprintf("expected %s, found %s", coreSortWord(want.sort), coreSortWord(got.sort))
	}
	switch want.sort {
	case sortCoreFunc, sortCoreTag:
		if !got.fn.equal(want.fn) {
			return fmt.Sprintf("expected: %s, found: %s", want.fn, got.fn)
		}
	case sortCoreTable:
		return tableMismatch(got.table, want.table)
	case sortCoreMemory:
		return memoryMismatch(got.memory, want.memory)
	case sortCoreGlobal:
		return globalMismatch(got.global, want.global)
	}
	return ""
}

func tableMismatch(got, want tableType) string {
	switch {
	case got.elem != want.elem:
		return fmt.Sprintf("expected table element type %s, found %s", want.elem, got.elem)
	case got.limits.is64 != want.limits.is64:
		return "mismatch in index type used for tables"
	case !got.limits.within(want.limits):
		return "mismatch in table limits"
	}
	return ""
}

func memoryMismatch(got, want limits) string {
	switch {
	case got.shared != want.shared:
		return "mismatch in the shared flag for memories"
	case got.is64 != want.is64:
		return "mismatch in index type used for memories"
	case !got.within(want):
		return "mismatch in memory limits"
	}
	return ""
}

func globalMismatch(got, want globalType) string {
	switch {
	case got.mutable != want.mutable:
		return "global types differ in mutability"
	case got.value != want.value:
		return fmt.Sprintf("expected global type %s, found %s", want.value, got.value)
	}
	return ""
}
