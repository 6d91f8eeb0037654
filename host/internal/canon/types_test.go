package canon

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLayouts(t *testing.T) {
	u8, u16, u32, u64, str := Prim(KindU8), Prim(KindU16), Prim(KindU32), Prim(KindU64), Prim(KindString)
	flt, dbl := Prim(KindF32), Prim(KindF64)
	r := &ResourceType{Name: "r"}
	for _, tc := range []struct {
		typ   *Type
		size  uint64
		align uint32
		flat  []CoreType
	}{
		{Prim(KindBool), 1, 1, []CoreType{i32}},
		{Prim(KindS16), 2, 2, []CoreType{i32}},
		{Prim(KindChar), 4, 4, []CoreType{i32}},
		{Prim(KindS64), 8, 8, []CoreType{i64}},
		{flt, 4, 4, []CoreType{f32}},
		{dbl, 8, 8, []CoreType{f64}},
		{str, 8, 4, []CoreType{i32, i32}},
		{ListOf(u64), 8, 4, []CoreType{i32, i32}},
		{FixedListOf(u16, 3), 6, 2, []CoreType{i32, i32, i32}},
		{MapOf(str, u64), 8, 4, []CoreType{i32, i32}},
		{RecordOf(Field{"a", u8}, Field{"b", u64}, Field{"c", u16}), 24, 8, []CoreType{i32, i64, i32}},
		{TupleOf(u8, u16, u8), 6, 2, []CoreType{i32, i32, i32}},
		{EnumOf(labels(256)...), 1, 1, []CoreType{i32}},
		{EnumOf(labels(257)...), 2, 2, []CoreType{i32}},
		{EnumOf(labels(65536)...), 2, 2, []CoreType{i32}},
		{EnumOf(labels(65537)...), 4, 4, []CoreType{i32}},
		{FlagsOf(labels(8)...), 1, 1, []CoreType{i32}},
		{FlagsOf(labels(9)...), 2, 2, []CoreType{i32}},
		{FlagsOf(labels(17)...), 4, 4, []CoreType{i32}},
		{OptionOf(u8), 2, 1, []CoreType{i32, i32}},
		{OptionOf(u64), 16, 8, []CoreType{i32, i64}},
		{ResultOf(nil, nil), 1, 1, []CoreType{i32}},
		{ResultOf(str, str), 12, 4, []CoreType{i32, i32, i32}},
		{VariantOf(Case{"a", u32}, Case{"b", flt}), 8, 4, []CoreType{i32, i32}},
		{VariantOf(Case{"a", u32}, Case{"b", dbl}), 16, 8, []CoreType{i32, i64}},
		{VariantOf(Case{"a", flt}, Case{"b", dbl}), 16, 8, []CoreType{i32, i64}},
		{VariantOf(Case{"a", TupleOf(flt, flt)}, Case{"b", u32}, Case{"c", nil}), 12, 4, []CoreType{i32, i32, f32}},
		{OwnOf(r), 4, 4, []CoreType{i32}},
		{BorrowOf(r), 4, 4, []CoreType{i32}},
		{StreamOf(nil), 4, 4, []CoreType{i32}},
		{FutureOf(u8), 4, 4, []CoreType{i32}},
		{Prim(KindErrorContext), 4, 4, []CoreType{i32}},
	} {
		t.Run(tc.typ.String(), func(t *testing.T) {
			assert.Equal(t, tc.size, tc.typ.Size())
			assert.Equal(t, tc.align, tc.typ.Align())
			flat, ok := tc.typ.Flat()
			assert.True(t, ok)
			assert.Equal(t, tc.flat, flat)
		})
	}
}

// doubled nests n tuples of twice the same type: a few words that describe a
// value larger than any memory.
func doubled(n int) *Type {
	typ := Prim(KindU64)
	for range n {
		typ = TupleOf(typ, typ)
	}
	return typ
}

func TestHugeTypesStayCheap(t *testing.T) {
	huge := doubled(90)
	assert.Equal(t, uint64(1<<64-1), huge.Size())
	_, ok := huge.Flat()
	assert.False(t, ok)
	assert.Less(t, len(huge.String()), maxTypeText+100)
	assert.True(t, Equal(huge, doubled(90)))
	assert.False(t, Equal(huge, doubled(89)))
	_, err := newCompiler().compile(huge, valueType)
	assert.ErrorContains(t, err, "larger than the limit")

	long := FixedListOf(Prim(KindU8), 1<<32-1)
	assert.Equal(t, uint64(1<<32-1), long.Size())

	// As large as allowed: planned in the time that its description takes.
	_, err = newCompiler().compile(doubled(24), valueType)
	assert.NoError(t, err)

	deep := Prim(KindU8)
	for range MaxDepth {
		deep = OptionOf(deep)
	}
	_, err = newCompiler().compile(deep, valueType)
	assert.ErrorContains(t, err, "deeper than 100")
}

func TestAsynchronousTypesAreRefused(t *testing.T) {
	for _, typ := range []*Type{StreamOf(Prim(KindU8)), FutureOf(nil), Prim(KindErrorContext)} {
		_, err := NewDynamicExport(&FuncType{Params: []Param{{"x", OptionOf(typ)}}})
		assert.EqualError(t, err, "parameter 0 (x).some: "+typ.String()+" is asynchronous, which is not supported")
	}
}

func TestSignatures(t *testing.T) {
	params := func(n int) []Param {
		all := make([]Param, n)
		for i := range all {
			all[i] = Param{labels(n)[i], Prim(KindU64)}
		}
		return all
	}
	i64s := func(n int) (all []CoreType) {
		for range n {
			all = append(all, i64)
		}
		return all
	}
	for _, tc := range []struct {
		name        string
		ft          FuncType
		lift, lower Signature
	}{
		{"nothing", FuncType{}, Signature{}, Signature{}},
		{"one result", FuncType{Result: Prim(KindF32)}, Signature{Results: []CoreType{f32}}, Signature{Results: []CoreType{f32}}},
		{"two results", FuncType{Params: params(1), Result: Prim(KindString)},
			Signature{[]CoreType{i64}, []CoreType{i32}}, Signature{Params: []CoreType{i64, i32}}},
		{"sixteen parameters and a pointer", FuncType{Params: params(16), Result: Prim(KindString)},
			Signature{i64s(16), []CoreType{i32}}, Signature{Params: append(i64s(16), i32)}},
		{"seventeen parameters", FuncType{Params: params(17), Result: Prim(KindU8)},
			Signature{[]CoreType{i32}, []CoreType{i32}}, Signature{[]CoreType{i32}, []CoreType{i32}}},
		{"parameters and results in memory", FuncType{Params: params(17), Result: Prim(KindString)},
			Signature{[]CoreType{i32}, []CoreType{i32}}, Signature{Params: []CoreType{i32, i32}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			assert.True(t, tc.ft.Lift().Equal(tc.lift), tc.ft.Lift())
			assert.True(t, tc.ft.Lower().Equal(tc.lower), tc.ft.Lower())
		})
	}
}

func TestTypeText(t *testing.T) {
	r := &ResourceType{Name: "input-stream"}
	for want, typ := range map[string]*Type{
		"option<list<u8>>":                  OptionOf(ListOf(Prim(KindU8))),
		"list<u32, 4>":                      FixedListOf(Prim(KindU32), 4),
		"tuple<string, char>":               TupleOf(Prim(KindString), Prim(KindChar)),
		"map<string, f64>":                  MapOf(Prim(KindString), Prim(KindF64)),
		"record {a: u8, b: s64}":            RecordOf(Field{"a", Prim(KindU8)}, Field{"b", Prim(KindS64)}),
		"variant {none, some(bool)}":        VariantOf(Case{"none", nil}, Case{"some", Prim(KindBool)}),
		"enum {red, green}":                 EnumOf("red", "green"),
		"flags {r, w}":                      FlagsOf("r", "w"),
		"result":                            ResultOf(nil, nil),
		"result<u8>":                        ResultOf(Prim(KindU8), nil),
		"result<_, u8>":                     ResultOf(nil, Prim(KindU8)),
		"result<u8, string>":                ResultOf(Prim(KindU8), Prim(KindString)),
		"own<input-stream>":                 OwnOf(r),
		"borrow<input-stream>":              BorrowOf(r),
		"stream":                            StreamOf(nil),
		"future<error-context>":             FutureOf(Prim(KindErrorContext)),
		"option<option<result<_, string>>>": OptionOf(OptionOf(ResultOf(nil, Prim(KindString)))),
	} {
		assert.Equal(t, want, typ.String())
	}
	ft := FuncType{Params: []Param{{"a", Prim(KindU8)}, {"b", Prim(KindString)}}, Result: OptionOf(Prim(KindBool))}
	assert.Equal(t, "func(a: u8, b: string) -> option<bool>", ft.String())
	assert.Equal(t, "(param i32 i64) (result f32)", Signature{[]CoreType{i32, i64}, []CoreType{f32}}.String())
	assert.Equal(t, "(result f64)", Signature{Results: []CoreType{f64}}.String())
	assert.Equal(t, "()", Signature{}.String())
	assert.Equal(t, "invalid type", Kind(200).String())
}

func TestEqual(t *testing.T) {
	fixed := &Resource{Name: "r"}
	byName := func(name string) *Type { return RecordOf(Field{name, Prim(KindU8)}) }
	same := [][2]*Type{
		{nil, nil},
		{byName("a"), byName("a")},
		{OwnOf(&ResourceType{Name: "r", Slot: 3}), OwnOf(&ResourceType{Name: "other", Slot: 3})},
		{OwnOf(&ResourceType{Fixed: fixed}), OwnOf(&ResourceType{Fixed: fixed, Slot: 9})},
	}
	for _, p := range same {
		assert.True(t, Equal(p[0], p[1]), "%v %v", p[0], p[1])
	}
	different := [][2]*Type{
		{nil, Prim(KindU8)},
		{byName("a"), byName("b")},
		{TupleOf(Prim(KindU8)), byName("0")},
		{FixedListOf(Prim(KindU8), 2), FixedListOf(Prim(KindU8), 3)},
		{EnumOf("a"), EnumOf("b")},
		{ResultOf(Prim(KindU8), nil), ResultOf(nil, Prim(KindU8))},
		{OwnOf(&ResourceType{Slot: 1}), OwnOf(&ResourceType{Slot: 2})},
		{OwnOf(&ResourceType{Fixed: fixed}), OwnOf(&ResourceType{})},
		{OwnOf(&ResourceType{Slot: 1}), BorrowOf(&ResourceType{Slot: 1})},
		{ListOf(Prim(KindU8)), ListOf(Prim(KindS8))},
	}
	for _, p := range different {
		assert.False(t, Equal(p[0], p[1]), "%v %v", p[0], p[1])
		assert.False(t, Equal(p[1], p[0]), "%v %v", p[1], p[0])
	}
}

func TestEqualFuncs(t *testing.T) {
	f := func(name string, result *Type) *FuncType {
		return &FuncType{Params: []Param{{name, Prim(KindU8)}}, Result: result}
	}
	assert.True(t, EqualFuncs(f("a", nil), f("a", nil)))
	assert.False(t, EqualFuncs(f("a", nil), f("b", nil)))
	assert.False(t, EqualFuncs(f("a", nil), f("a", Prim(KindU8))))
	assert.False(t, EqualFuncs(f("a", nil), &FuncType{}))
}

func TestAccessors(t *testing.T) {
	rec := RecordOf(Field{"a", Prim(KindU8)}, Field{"b", Prim(KindU32)})
	assert.Equal(t, KindRecord, rec.Kind())
	assert.Len(t, rec.Fields(), 2)
	assert.EqualValues(t, 4, rec.Offset(1))
	assert.Equal(t, 2, rec.Depth())
	opt := OptionOf(Prim(KindU64))
	assert.EqualValues(t, 8, opt.PayloadOffset())
	assert.Equal(t, Prim(KindU64), opt.Elem())
	assert.Equal(t, []Case{{"none", nil}, {"some", Prim(KindU64)}}, opt.Cases())
	assert.EqualValues(t, 3, FixedListOf(opt, 3).Len())
	assert.Equal(t, []string{"a"}, FlagsOf("a").Labels())
	r := &ResourceType{Name: "r"}
	assert.Same(t, r, BorrowOf(r).Resource())
	assert.True(t, OptionOf(BorrowOf(r)).HasBorrow())
	assert.False(t, OptionOf(OwnOf(r)).HasBorrow())
	require.Nil(t, Prim(KindList))
	require.Nil(t, Prim(Kind(99)))
}
