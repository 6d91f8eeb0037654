package canon

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	text := Str("a\n")
	n := Bits(5)
	rt := &ResourceType{Name: "file"}
	for _, tc := range []struct {
		typ  *Type
		v    Value
		want string
	}{
		{Prim(KindBool), Bits(1), "true"},
		{Prim(KindS8), Bits(1<<64 - 1), "-1"},
		{Prim(KindU64), Bits(math.MaxUint64), "18446744073709551615"},
		{Prim(KindF32), Float32(0.5), "0.5"},
		{Prim(KindF64), Float64(math.NaN()), "NaN"},
		{Prim(KindChar), Bits('☃'), "'☃'"},
		{Prim(KindString), text, `"a\n"`},
		{ListOf(Prim(KindU8)), Bytes([]byte{1, 2}), "[1, 2]"},
		{ListOf(Prim(KindS16)), Image([]byte{255, 255, 1, 0}, 2), "[-1, 1]"},
		{TupleOf(Prim(KindU8), Prim(KindString)), Seq(n, text), `(5, "a\n")`},
		{RecordOf(Field{"x", Prim(KindU8)}), Seq(n), "{x: 5}"},
		{MapOf(Prim(KindU8), Prim(KindU8)), Seq(Seq(n, n)), "[(5, 5)]"},
		{VariantOf(Case{"a", nil}, Case{"b", Prim(KindU8)}), Cased(1, &n), "b(5)"},
		{VariantOf(Case{"a", nil}), Cased(0, nil), "a"},
		{EnumOf("red", "green"), Bits(1), "green"},
		{OptionOf(Prim(KindU8)), Cased(0, nil), "none"},
		{ResultOf(nil, Prim(KindU8)), Cased(1, &n), "err(5)"},
		{FlagsOf("r", "w", "x"), Bits(5), "{r, x}"},
		{OwnOf(rt), Handle(Rep{Guest: 3}), "file#3"},
	} {
		assert.Equal(t, tc.want, Format(tc.typ, tc.v))
		assert.True(t, EqualValues(tc.typ, tc.v, tc.v))
	}
}

func TestEqualValues(t *testing.T) {
	one, two := Bits(1), Bits(2)
	for _, tc := range []struct {
		typ  *Type
		a, b Value
	}{
		{Prim(KindU8), one, two},
		{Prim(KindString), Str("a"), Str("b")},
		{ListOf(Prim(KindU8)), Bytes([]byte{1}), Bytes([]byte{1, 2})},
		{ListOf(Prim(KindU8)), Bytes([]byte{1}), Seq(two)},
		{OptionOf(Prim(KindU8)), Cased(0, nil), Cased(1, &one)},
		{OptionOf(Prim(KindU8)), Cased(1, &two), Cased(1, &one)},
		{OwnOf(&ResourceType{}), Handle(Rep{Go: "a"}), Handle(Rep{Go: "b"})},
	} {
		assert.False(t, EqualValues(tc.typ, tc.a, tc.b), tc.typ)
	}
	assert.True(t, EqualValues(ListOf(Prim(KindU8)), Bytes([]byte{1, 2}), Seq(one, two)), "how a list is held does not matter")
	assert.True(t, EqualValues(Prim(KindF32), Bits(0x7f800001), Float32(float32(math.NaN()))))
	assert.True(t, EqualValues(OwnOf(&ResourceType{}), Handle(Rep{Go: "a"}), Handle(Rep{Go: "a"})))
}

func TestValuesThatDoNotFit(t *testing.T) {
	n := Bits(1)
	for _, tc := range []struct {
		typ  *Type
		v    Value
		want string
	}{
		{Prim(KindU8), Str("a"), "cannot pass a string to a guest as a u8"},
		{Prim(KindString), n, "cannot pass a scalar to a guest as a string"},
		{Prim(KindString), Value{}, "cannot pass nothing to a guest as a string"},
		{ListOf(Prim(KindString)), Bytes([]byte{1}), "cannot pass a list of numbers to a guest as a list"},
		{ListOf(Prim(KindU16)), Image([]byte{1, 2, 3}, 2), "cannot pass 3 bytes to a guest as 2 numbers of 2"},
		{ListOf(Prim(KindString)), Seq(n), "cannot pass a scalar to a guest as a string"},
		{TupleOf(Prim(KindU8), Prim(KindU8)), Seq(n), "cannot pass 1 values to a guest where there are 2"},
		{TupleOf(Prim(KindU8)), n, "cannot pass a scalar to a guest as a sequence"},
		{EnumOf("a"), n, "cannot pass case 1 of an enum of 1 to a guest"},
		{OptionOf(Prim(KindU8)), n, "cannot pass a scalar to a guest as a variant"},
		{OptionOf(Prim(KindU8)), Cased(0, &n), "cannot pass case 0 of 2 to a guest: it has no such payload"},
		{OptionOf(Prim(KindU8)), Cased(1, nil), "cannot pass case 1 of 2 to a guest: it has no such payload"},
		{OptionOf(Prim(KindU8)), Cased(2, nil), "cannot pass case 2 of 2 to a guest: it has no such payload"},
		{OwnOf(&ResourceType{}), n, "cannot pass a scalar to a guest as a handle"},
	} {
		g := newGuest(256)
		c := open(t, g.binding(UTF8))
		cd := dynamicCodec(t, tc.typ)
		types, _ := tc.typ.Flat()
		assert.EqualError(t, cd.lower(c, make([]uint64, len(types)), unsafe.Pointer(&tc.v)), tc.want)
		_, err := put(t, c, g, tc.typ, cd, unsafe.Pointer(&tc.v))
		assert.EqualError(t, err, tc.want)
	}
}

func TestValueAccessorsThatDoNotFitPanic(t *testing.T) {
	for _, read := range []func(){
		func() { Bits(1).Text() },
		func() { Str("a").Uint() },
		func() { Bits(1).Len() },
		func() { Bits(1).At(ListOf(Prim(KindU8)), 0) },
		func() { Str("a").Payload() },
		func() { Seq().Rep() },
		func() { Bytes([]byte{1}).At(ListOf(Prim(KindU8)), 1) },
	} {
		assert.Panics(t, read)
	}
}

// A handle of Go's keeps its value through a call between components.
func TestHandleValues(t *testing.T) {
	rt := &ResourceType{Name: "r", Fixed: &Resource{Name: "r"}}
	typ := RecordOf(Field{"o", OwnOf(rt)}, Field{"b", BorrowOf(rt)})
	cd := dynamicCodec(t, typ)
	g := newGuest(64)
	b := g.binding(UTF8)
	v := Seq(Handle(Rep{Go: "own"}), Handle(Rep{Go: "borrowed"}))
	c := open(t, b)
	p, err := put(t, c, g, typ, cd, unsafe.Pointer(&v))
	require.NoError(t, err)
	lanes := []uint64{0, 0}
	require.NoError(t, cd.lower(c, lanes, unsafe.Pointer(&v)))
	assert.Equal(t, []uint64{3, 4}, lanes)
	var back, lifted Value
	require.NoError(t, cd.load(c, p, unsafe.Pointer(&back)))
	require.NoError(t, cd.lift(c, lanes, unsafe.Pointer(&lifted)))
	assert.True(t, EqualValues(typ, v, back))
	assert.True(t, EqualValues(typ, v, lifted))
}
