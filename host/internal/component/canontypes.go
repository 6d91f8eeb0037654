package component

import (
	"fmt"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// abi turns the types of one component into those of the canonical ABI. A
// resource becomes a slot, which each instance fills.
type abi struct {
	slot  func(*resource) int
	types map[*valueDef]*canon.Type
	funcs map[*funcType]*canon.FuncType
	res   map[*resource]*canon.ResourceType
}

func newABI(slot func(*resource) int) *abi {
	return &abi{slot, map[*valueDef]*canon.Type{}, map[*funcType]*canon.FuncType{}, map[*resource]*canon.ResourceType{}}
}

var primKinds = [...]canon.Kind{kindBool: canon.KindBool, kindS8: canon.KindS8, kindU8: canon.KindU8,
	kindS16: canon.KindS16, kindU16: canon.KindU16, kindS32: canon.KindS32, kindU32: canon.KindU32,
	kindS64: canon.KindS64, kindU64: canon.KindU64, kindF32: canon.KindF32, kindF64: canon.KindF64,
	kindChar: canon.KindChar, kindString: canon.KindString, kindErrorContext: canon.KindErrorContext}

func (a *abi) fn(f *funcType) *canon.FuncType {
	if t, ok := a.funcs[f]; ok {
		return t
	}
	t := &canon.FuncType{}
	for _, p := range f.params {
		t.Params = append(t.Params, canon.Param{Name: p.name, Type: a.val(p.typ)})
	}
	t.Result = a.val(f.result)
	a.funcs[f] = t
	return t
}

func (a *abi) val(v *valType) *canon.Type {
	switch {
	case v == nil:
		return nil
	case v.def == nil:
		return canon.Prim(primKinds[v.prim])
	}
	if t, ok := a.types[v.def]; ok {
		return t
	}
	t := a.def(v.def)
	a.types[v.def] = t
	return t
}

func (a *abi) def(d *valueDef) *canon.Type {
	switch d.kind {
	case kindRecord:
		fields := make([]canon.Field, len(d.fields))
		for i, f := range d.fields {
			fields[i] = canon.Field{Name: f.name, Type: a.val(f.typ)}
		}
		return canon.RecordOf(fields...)
	case kindVariant:
		cases := make([]canon.Case, len(d.fields))
		for i, f := range d.fields {
			cases[i] = canon.Case{Name: f.name, Type: a.val(f.typ)}
		}
		return canon.VariantOf(cases...)
	case kindTuple:
		elems := make([]*canon.Type, len(d.elems))
		for i := range d.elems {
			elems[i] = a.val(&d.elems[i])
		}
		return canon.TupleOf(elems...)
	case kindFlags:
		return canon.FlagsOf(d.labels...)
	case kindEnum:
		return canon.EnumOf(d.labels...)
	}
	return a.simple(d)
}

func (a *abi) simple(d *valueDef) *canon.Type {
	switch d.kind {
	case kindList:
		return canon.ListOf(a.val(d.elem))
	case kindFixedList:
		return canon.FixedListOf(a.val(d.elem), d.length)
	case kindOption:
		return canon.OptionOf(a.val(d.elem))
	case kindResult:
		return canon.ResultOf(a.val(d.elem), a.val(d.other))
	case kindMap:
		return canon.MapOf(a.val(d.elem), a.val(d.other))
	case kindOwn:
		return canon.OwnOf(a.resource(d.res.res))
	case kindBorrow:
		return canon.BorrowOf(a.resource(d.res.res))
	case kindStream:
		return canon.StreamOf(a.val(d.elem))
	case kindFuture:
		return canon.FutureOf(a.val(d.elem))
	}
	return canon.Prim(primKinds[d.kind])
}

func (a *abi) resource(r *resource) *canon.ResourceType {
	t, ok := a.res[r]
	if !ok {
		t = &canon.ResourceType{Name: r.name, Slot: a.slot(r)}
		a.res[r] = t
	}
	return t
}

// synchronous fails for a function that this host cannot call.
func synchronous(f *funcType, o canonOptions) error {
	if o.async {
		return fmt.Errorf("asynchronous functions are not supported by this host")
	}
	for _, p := range f.params {
		if p.typ.asynchronous() {
			return fmt.Errorf("streams, futures and error contexts are not supported by this host")
		}
	}
	if f.result != nil && f.result.asynchronous() {
		return fmt.Errorf("streams, futures and error contexts are not supported by this host")
	}
	return nil
}

func (v *valType) asynchronous() bool {
	switch v.kind() {
	case kindStream, kindFuture, kindErrorContext:
		return true
	}
	found := false
	if v.def != nil {
		v.def.eachPart(func(p *valType) { found = found || p.asynchronous() })
	}
	return found
}
