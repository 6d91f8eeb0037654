package canon_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/api"
	bytecodealliance "go.bytecodealliance.org/wit"

	"github.com/murmur-capsule/murmur/host/internal/canon"
	"github.com/murmur-capsule/murmur/host/toolrun"
	"github.com/murmur-capsule/murmur/wit"
)

// The layouts agree with a second implementation, for our own contract and for
// types of every kind.
func TestLayoutsAgreeWithWasmTools(t *testing.T) {
	for name, text := range map[string]string{"contract": wit.Text(), "all kinds": allKinds} {
		t.Run(name, func(t *testing.T) {
			res, err := bytecodealliance.DecodeWIT(strings.NewReader(text))
			require.NoError(t, err)
			for _, d := range res.TypeDefs {
				if _, ok := d.Kind.(*bytecodealliance.Resource); !ok {
					compareType(t, d)
				}
			}
			for _, i := range res.Interfaces {
				for _, f := range i.Functions.All() {
					compareFunction(t, *i.Name, f)
				}
			}
		})
	}
}

// The Go types that serve the shell tool are those of its WIT.
func TestGoTypesAgreeWithTheContract(t *testing.T) {
	res, err := bytecodealliance.DecodeWIT(strings.NewReader(wit.Text()))
	require.NoError(t, err)
	ours := map[string]reflect.Type{
		"tool-input":  reflect.TypeFor[toolrun.Input](),
		"tool-result": reflect.TypeFor[toolrun.Result](),
		"status":      reflect.TypeFor[toolrun.Status](),
	}
	for _, d := range res.TypeDefs {
		if d.Name == nil || ours[*d.Name] == nil {
			continue
		}
		got, err := canon.TypeOf(ours[*d.Name], nil)
		require.NoError(t, err)
		assert.True(t, canon.Equal(typeOf(t, d), got), "%s: the Go type is %s", *d.Name, got)
		delete(ours, *d.Name)
	}
	assert.Empty(t, ours, "types that the WIT has not")
}

func compareType(t *testing.T, d *bytecodealliance.TypeDef) {
	ours := typeOf(t, d)
	name := ours.String()
	assert.EqualValues(t, d.Size(), ours.Size(), "size of %s", name)
	assert.EqualValues(t, d.Align(), ours.Align(), "alignment of %s", name)
	if flat, ok := ours.Flat(); ok {
		assert.Equal(t, coreTypes(t, d.Flat()), flat, "flat form of %s", name)
	} else {
		assert.Greater(t, len(d.Flat()), canon.MaxFlatParams, name)
	}
}

func compareFunction(t *testing.T, face string, f *bytecodealliance.Function) {
	ours := canon.FuncType{}
	for _, p := range f.Params {
		ours.Params = append(ours.Params, canon.Param{Name: p.Name, Type: typeOf(t, p.Type)})
	}
	if len(f.Results) > 0 {
		ours.Result = typeOf(t, f.Results[0].Type)
	}
	for dir, got := range map[bytecodealliance.Direction]canon.Signature{
		bytecodealliance.Imported: ours.Lower(),
		bytecodealliance.Exported: ours.Lift(),
	} {
		core := f.CoreFunction(dir)
		want := canon.Signature{Params: paramTypes(t, core.Params), Results: paramTypes(t, core.Results)}
		assert.True(t, want.Equal(got), "%s %s#%s: want %v, got %v", dir, face, f.Name, want, got)
	}
}

func paramTypes(t *testing.T, params []bytecodealliance.Param) []canon.CoreType {
	var types []canon.CoreType
	for _, p := range params {
		types = append(types, coreTypes(t, p.Type.Flat())...)
	}
	return types
}

func coreTypes(t *testing.T, flat []bytecodealliance.Type) []canon.CoreType {
	types := make([]canon.CoreType, len(flat))
	for i, f := range flat {
		switch f.(type) {
		case bytecodealliance.U64, bytecodealliance.S64:
			types[i] = api.ValueTypeI64
		case bytecodealliance.F32:
			types[i] = api.ValueTypeF32
		case bytecodealliance.F64:
			types[i] = api.ValueTypeF64
		default:
			require.LessOrEqual(t, f.Size(), uintptr(4))
			types[i] = api.ValueTypeI32
		}
	}
	return types
}

var primitives = map[string]canon.Kind{
	"bool": canon.KindBool, "s8": canon.KindS8, "u8": canon.KindU8, "s16": canon.KindS16, "u16": canon.KindU16,
	"s32": canon.KindS32, "u32": canon.KindU32, "s64": canon.KindS64, "u64": canon.KindU64,
	"f32": canon.KindF32, "f64": canon.KindF64, "char": canon.KindChar, "string": canon.KindString,
}

func typeOf(t *testing.T, from bytecodealliance.Type) *canon.Type {
	if from == nil {
		return nil
	}
	d, ok := from.(*bytecodealliance.TypeDef)
	if !ok {
		name := from.WIT(nil, "")
		require.Contains(t, primitives, name)
		return canon.Prim(primitives[name])
	}
	return kindOf(t, d.Kind)
}

func kindOf(t *testing.T, k bytecodealliance.TypeDefKind) *canon.Type {
	switch k := k.(type) {
	case *bytecodealliance.TypeDef:
		return kindOf(t, k.Kind)
	case *bytecodealliance.Record:
		return canon.RecordOf(convert(k.Fields, func(f bytecodealliance.Field) canon.Field {
			return canon.Field{Name: f.Name, Type: typeOf(t, f.Type)}
		})...)
	case *bytecodealliance.Tuple:
		return canon.TupleOf(convert(k.Types, func(e bytecodealliance.Type) *canon.Type { return typeOf(t, e) })...)
	case *bytecodealliance.Variant:
		return canon.VariantOf(convert(k.Cases, func(c bytecodealliance.Case) canon.Case {
			return canon.Case{Name: c.Name, Type: typeOf(t, c.Type)}
		})...)
	case *bytecodealliance.Enum:
		return canon.EnumOf(convert(k.Cases, func(c bytecodealliance.EnumCase) string { return c.Name })...)
	case *bytecodealliance.Flags:
		return canon.FlagsOf(convert(k.Flags, func(f bytecodealliance.Flag) string { return f.Name })...)
	case *bytecodealliance.Option:
		return canon.OptionOf(typeOf(t, k.Type))
	case *bytecodealliance.Result:
		return canon.ResultOf(typeOf(t, k.OK), typeOf(t, k.Err))
	case *bytecodealliance.List:
		return canon.ListOf(typeOf(t, k.Type))
	case *bytecodealliance.Own:
		return canon.OwnOf(&canon.ResourceType{Name: *k.Type.Name})
	case *bytecodealliance.Borrow:
		return canon.BorrowOf(&canon.ResourceType{Name: *k.Type.Name})
	case bytecodealliance.Type:
		return typeOf(t, k)
	}
	require.Fail(t, "no such kind", fmt.Sprintf("%T", k))
	return nil
}

func convert[A, B any](in []A, f func(A) B) []B {
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

// allKinds has each kind of type, and the combinations in which layouts go
// wrong: padding, joined payloads, discriminants of one, two and four bytes,
// parameters and results that are too many for the core function.
var allKinds = `package test:all@1.0.0;
interface all {
	resource thing { constructor(); use-it: func(other: borrow<thing>) -> thing; }
	record empty-ish { a: bool }
	record padded { a: u8, b: u64, c: u16, d: f32, e: char, f: s8 }
	variant mixed { none, int(u32), float(f32), long(s64), double(f64), text(string), pair(tuple<u8, f64>) }
	variant floats { a(f32), b(f64) }
	variant ints { a(u32), b(f32) }
	variant small { a(u8), b }
	enum two { a, b }
	enum many { ` + names("c", 257) + ` }
	flags f8 { ` + names("f", 8) + ` }
	flags f9 { ` + names("f", 9) + ` }
	flags f17 { ` + names("f", 17) + ` }
	type nested = list<option<result<tuple<string, mixed>, padded>>>;
	type bare = result;
	type only-error = result<_, u64>;
	type only-ok = result<string>;
	type maybe = option<option<u64>>;
	many-params: func(a: string, b: string, c: string, d: string, e: string, f: string, g: string, h: string, i: u8);
	just-enough: func(a: string, b: string, c: string, d: string, e: string, f: string, g: string, h: string) -> string;
	one-result: func(a: mixed, b: f8) -> f64;
	enum-result: func(a: borrow<thing>, b: thing) -> many;
	no-result: func(a: floats, b: ints, c: small, d: f17, e: two, f: empty-ish, g: f9);
	handle: func(a: nested, b: bare, c: only-error, d: only-ok, e: maybe) -> bare;
}
world w { import all; }
`

func names(prefix string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return strings.Join(all, ", ")
}
