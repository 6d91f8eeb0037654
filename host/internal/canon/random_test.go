package canon

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// randomType makes a type that nests at most depth deep.
func randomType(r *rand.Rand, depth int) *Type {
	if depth <= 1 || r.IntN(3) == 0 {
		return randomLeaf(r)
	}
	part := func() *Type { return randomType(r, depth-1) }
	maybe := func() *Type {
		if r.IntN(3) == 0 {
			return nil
		}
		return part()
	}
	switch r.IntN(8) {
	case 0:
		return ListOf(part())
	case 1:
		return FixedListOf(part(), uint32(1+r.IntN(4)))
	case 2:
		fields := make([]Field, 1+r.IntN(5))
		for i := range fields {
			fields[i] = Field{fmt.Sprintf("f%d", i), part()}
		}
		return RecordOf(fields...)
	case 3:
		types := make([]*Type, 1+r.IntN(4))
		for i := range types {
			types[i] = part()
		}
		return TupleOf(types...)
	case 4:
		cases := make([]Case, 1+r.IntN(5))
		for i := range cases {
			cases[i] = Case{fmt.Sprintf("c%d", i), maybe()}
		}
		return VariantOf(cases...)
	case 5:
		return OptionOf(part())
	case 6:
		return ResultOf(maybe(), maybe())
	default:
		return MapOf(part(), part())
	}
}

func randomLeaf(r *rand.Rand) *Type {
	switch n := r.IntN(int(KindString) + 2); n {
	case 0:
		return EnumOf(labels(1 + r.IntN(300))...)
	case int(KindString) + 1:
		return FlagsOf(labels(1 + r.IntN(32))...)
	default:
		return Prim(Kind(n))
	}
}

func labels(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("l%d", i)
	}
	return all
}

// randomValue makes a value of type t.
func randomValue(r *rand.Rand, t *Type) Value {
	switch t.kind {
	case KindString:
		return Str(randomText(r))
	case KindList, KindMap:
		return Seq(randomValues(r, t.elem, r.IntN(5))...)
	case KindFixedList:
		return Seq(randomValues(r, t.elem, int(t.length))...)
	case KindRecord, KindTuple:
		values := make([]Value, len(t.fields))
		for i, f := range t.fields {
			values[i] = randomValue(r, f.Type)
		}
		return Seq(values...)
	case KindVariant, KindOption, KindResult:
		n := r.IntN(len(t.cases))
		if t.cases[n].Type == nil {
			return Cased(uint32(n), nil)
		}
		v := randomValue(r, t.cases[n].Type)
		return Cased(uint32(n), &v)
	default:
		return randomScalar(r, t)
	}
}

func randomValues(r *rand.Rand, t *Type, n int) []Value {
	values := make([]Value, n)
	for i := range values {
		values[i] = randomValue(r, t)
	}
	return values
}

func randomScalar(r *rand.Rand, t *Type) Value {
	n := r.Uint64()
	switch t.kind {
	case KindEnum:
		n %= uint64(len(t.cases))
	case KindFlags:
		n &= uint64(flagsMask(len(t.labels)))
	case KindChar:
		n = uint64(scalarValue(uint32(n) % 0x110000))
	case KindF64:
		if r.IntN(4) == 0 {
			n = math.Float64bits(math.NaN()) | n>>40
		}
	}
	return Bits(extend(t.kind, n))
}

func randomText(r *rand.Rand) string {
	alphabets := [][]rune{[]rune("abc \x00"), []rune("aéÿ\u0080"), []rune("aéΣ☃🍰\uffff")}
	from := alphabets[r.IntN(len(alphabets))]
	text := make([]rune, r.IntN(8))
	for i := range text {
		text[i] = from[r.IntN(len(from))]
	}
	return string(text)
}

func dynamicCodec(t testing.TB, typ *Type) codec {
	t.Helper()
	cd, err := newCompiler().compile(typ, valueType)
	require.NoError(t, err, typ)
	return cd
}

// What is stored is loaded again, through memory and over the stack, in every
// encoding, and however the allocations of strings go.
func TestRandomValuesSurviveBothWays(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		typ := randomType(r, 1+r.IntN(5))
		v := randomValue(r, typ)
		b := newGuest(256).binding(Encoding(r.IntN(3)))
		b.Fused = r.IntN(2) == 0
		cd := dynamicCodec(t, typ)
		checkMemory(t, b, typ, cd, v)
		checkStack(t, b, typ, cd, v)
	}
}

func checkMemory(t *testing.T, b *Binding, typ *Type, cd codec, v Value) {
	t.Helper()
	c := open(t, b)
	p, err := put(t, c, b.Memory.(*guest), typ, cd, unsafe.Pointer(&v))
	require.NoError(t, err, typ)
	var back Value
	require.NoError(t, cd.load(c, p, unsafe.Pointer(&back)), typ)
	require.True(t, EqualValues(typ, v, back), "%s: %s is %s", typ, Format(typ, v), Format(typ, back))
}

func checkStack(t *testing.T, b *Binding, typ *Type, cd codec, v Value) {
	t.Helper()
	types, ok := typ.Flat()
	if !ok {
		return
	}
	c := open(t, b)
	lanes := make([]uint64, len(types))
	for i := range lanes {
		lanes[i] = 0xdeadbeefdeadbeef
	}
	require.NoError(t, cd.lower(c, lanes, unsafe.Pointer(&v)), typ)
	for i, ct := range types {
		if ct == i32 || ct == f32 {
			assert.Zero(t, lanes[i]>>32, "lane %d of %s is not clean", i, typ)
			// wazero leaves what it likes in the upper half.
			lanes[i] |= 0xabababab << 32
		}
	}
	var back Value
	require.NoError(t, cd.lift(c, lanes, unsafe.Pointer(&back)), typ)
	require.True(t, EqualValues(typ, v, back), "%s: %s is %s", typ, Format(typ, v), Format(typ, back))
}

func TestLayoutAgreesWithReflect(t *testing.T) {
	// On every platform where Go aligns 64-bit numbers to 8 bytes, a record of
	// numbers lies as a Go struct does.
	type numbers struct {
		A uint8
		B uint32
		C uint16
		D uint64
		E float32
	}
	g := reflect.TypeFor[numbers]()
	typ, err := TypeOf(g, nil)
	require.NoError(t, err)
	if g.Field(3).Type.Align() == 8 {
		assert.EqualValues(t, g.Size(), typ.Size())
	}
	assert.EqualValues(t, []uint32{0, 4, 8, 16, 24}, typ.layout.offsets)
}
