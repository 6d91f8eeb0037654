package canon

import (
	"encoding/hex"
	"math"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	color  uint8
	rights uint16
	shapes struct {
		Nothing bool
		Circle  *float64
		Named   *string
	}
	point       struct{ X, Y int16 }
	pairOfTexts struct{ A, B string }
	everything  struct {
		Yes      bool
		Small    int8
		Byte     uint8
		Letter   Char
		Name     string
		Numbers  []uint32
		Reals    []float64
		Halves   []float32
		Points   []point
		Corner   [2]point
		Maybe    *string
		Perhaps  Option[int64]
		Outcome  Result[string, color]
		Nothing  Result[Unit, Unit]
		Shape    shapes
		Color    color
		Rights   rights
		Table    Map[string, uint8]
		Texts    [][]string
		Raw      []byte
		Twice    **uint8
		LogPath  string `wit:"the-path"`
		SignedQ  int64
		UnsigneQ uint64
	}
)

func (color) WITEnum() []string   { return []string{"red", "green", "blue"} }
func (rights) WITFlags() []string { return labels(9) }
func (shapes) WITVariant()        {}
func (pairOfTexts) WITTuple()     {}

// codecFor is the codec of a Go type with the WIT type that it tells.
func codecFor[T any](t testing.TB) (*Type, codec) {
	t.Helper()
	g := reflect.TypeFor[T]()
	typ, err := TypeOf(g, nil)
	require.NoError(t, err)
	cd, err := newCompiler().compile(typ, g)
	require.NoError(t, err)
	return typ, cd
}

// checkBytes stores v, compares the bytes, and loads and lifts it again.
func checkBytes[T any](t *testing.T, name string, v T, wantMemory string, wantLanes ...uint64) {
	t.Run(name, func(t *testing.T) {
		typ, cd := codecFor[T](t)
		g := newGuest(64)
		c := open(t, g.binding(UTF8))
		p, err := put(t, c, g, typ, cd, unsafe.Pointer(&v))
		require.NoError(t, err)
		assert.Equal(t, wantMemory, hex.EncodeToString(g.mem[p:][:typ.Size()]))
		var back T
		require.NoError(t, cd.load(c, p, unsafe.Pointer(&back)))
		assert.Equal(t, v, back)

		g = newGuest(64)
		c = open(t, g.binding(UTF8))
		lanes := make([]uint64, len(wantLanes))
		require.NoError(t, cd.lower(c, lanes, unsafe.Pointer(&v)))
		assert.Equal(t, wantLanes, lanes)
		var lifted T
		require.NoError(t, cd.lift(c, lanes, unsafe.Pointer(&lifted)))
		assert.Equal(t, v, lifted)
	})
}

// One test a type: what it is in memory (aa is a byte that is not written), and
// on the stack.
func TestGoTypes(t *testing.T) {
	some := func(s string) *string { return &s }
	radius := 1.5
	n := uint8(7)
	pn := &n
	checkBytes(t, "true", true, "01", 1)
	checkBytes(t, "false", false, "00", 0)
	checkBytes(t, "s8", int8(-2), "fe", 0xfffffffe)
	checkBytes(t, "u8", uint8(254), "fe", 254)
	checkBytes(t, "s16", int16(-2), "feff", 0xfffffffe)
	checkBytes(t, "u16", uint16(0xfffe), "feff", 0xfffe)
	checkBytes(t, "s32", int32(-2), "feffffff", 0xfffffffe)
	checkBytes(t, "u32", uint32(0x01020304), "04030201", 0x01020304)
	checkBytes(t, "s64", int64(-2), "feffffffffffffff", 1<<64-2)
	checkBytes(t, "u64", uint64(3), "0300000000000000", 3)
	checkBytes(t, "f32", float32(1), "0000803f", 0x3f800000)
	checkBytes(t, "f64", float64(2), "0000000000000040", 0x4000000000000000)
	checkBytes(t, "char", Char('☃'), "03260000", 0x2603)
	checkBytes(t, "string", "ab", "1000000002000000", 8, 2)
	checkBytes(t, "list", []uint16{1, 2}, "1000000002000000", 8, 2)
	checkBytes(t, "empty list", []uint16(nil), "1000000000000000", 8, 0)
	checkBytes(t, "list of structs", []point{{1, 2}, {3, 4}, {5, 6}}, "1000000003000000", 8, 3)
	checkBytes(t, "fixed list", [2]uint16{1, 2}, "01000200", 1, 2)
	checkBytes(t, "record", point{1, -1}, "0100ffff", 1, 0xffffffff)
	checkBytes(t, "tuple", pairOfTexts{"a", "bc"}, "18000000010000002000000002000000", 8, 1, 16, 2)
	checkBytes(t, "enum", color(2), "02", 2)
	checkBytes(t, "flags", rights(0x101), "0101", 0x101)
	checkBytes(t, "variant, no payload", shapes{Nothing: true}, "00aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, 0, 0)
	checkBytes(t, "variant, f64", shapes{Circle: &radius}, "01aaaaaaaaaaaaaa000000000000f83f", 1, 0x3ff8000000000000, 0)
	checkBytes(t, "variant, string", shapes{Named: some("x")}, "02aaaaaaaaaaaaaa1800000001000000", 2, 8, 1)
	checkBytes(t, "none", (*string)(nil), "00aaaaaaaaaaaaaaaaaaaaaa", 0, 0, 0)
	checkBytes(t, "some", some("x"), "01aaaaaa1800000001000000", 1, 8, 1)
	checkBytes(t, "some of some", &pn, "01"+"01"+"07", 1, 1, 7)
	blue, none := color(2), (*rights)(nil)
	checkBytes(t, "some enum", &blue, "0102", 1, 2)
	checkBytes(t, "no flags", none, "00aaaaaa", 0, 0)
	checkBytes(t, "Option, none", Option[uint64]{}, "00aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 0, 0)
	checkBytes(t, "Option, some", Some(uint64(5)), "01aaaaaaaaaaaaaa0500000000000000", 1, 5)
	checkBytes(t, "ok", Ok[uint8, string](4), "00aaaaaa04aaaaaaaaaaaaaa", 0, 4, 0)
	checkBytes(t, "error", Fail[uint8]("no"), "01aaaaaa1800000002000000", 1, 8, 2)
	checkBytes(t, "bare error", Fail[Unit](Unit{}), "01", 1)
	checkBytes(t, "map", Map[uint8, uint8]{{1, 2}, {3, 4}}, "1000000002000000", 8, 2)
}

func TestNaNsBecomeCanonical(t *testing.T) {
	odd32, odd64 := math.Float32frombits(0xffc12345), math.Float64frombits(0x7ff0000000000001)
	g := newGuest(256)
	c := open(t, g.binding(UTF8))
	for range 2 {
		// As a value, and within a list, which is copied whole.
		typ, cd := codecFor[[]float32](t)
		v := []float32{1, odd32}
		p, err := put(t, c, g, typ, cd, unsafe.Pointer(&v))
		require.NoError(t, err)
		ptr, _ := c.loadPair(p)
		assert.Equal(t, "0000803f0000c07f", hex.EncodeToString(g.mem[ptr:][:8]))
		copy(g.mem[ptr+4:], []byte{1, 0, 0x80, 0xff})
		require.NoError(t, cd.load(c, p, unsafe.Pointer(&v)))
		assert.EqualValues(t, nan32, math.Float32bits(v[1]))
	}
	typ, cd := codecFor[[]float64](t)
	v := []float64{odd64}
	p, err := put(t, c, g, typ, cd, unsafe.Pointer(&v))
	require.NoError(t, err)
	ptr, _ := c.loadPair(p)
	assert.Equal(t, "000000000000f87f", hex.EncodeToString(g.mem[ptr:][:8]))
	g.mem[ptr] = 1
	require.NoError(t, cd.load(c, p, unsafe.Pointer(&v)))
	assert.EqualValues(t, uint64(nan64), math.Float64bits(v[0]))
	image := Image(g.mem[ptr:][:8], 1)
	_, err = put(t, c, g, typ, dynamicCodec(t, typ), unsafe.Pointer(&image))
	require.NoError(t, err)
}

// Everything at once, in each encoding, compared with the dynamic codec: both must
// read the same from the same memory.
func TestTypedAndDynamicAgree(t *testing.T) {
	typ, cd := codecFor[everything](t)
	dyn := dynamicCodec(t, typ)
	name, n := "naïve ☃", uint8(9)
	pn := &n
	v := everything{
		Yes: true, Small: -8, Byte: 8, Letter: '🍰', Name: name, Numbers: []uint32{1, 1 << 31},
		Reals: []float64{math.Inf(1), -0.5}, Halves: []float32{0.25}, Points: []point{{-1, 1}},
		Corner: [2]point{{1, 2}, {3, 4}}, Maybe: &name, Perhaps: Some(int64(-5)),
		Outcome: Fail[string](color(1)), Shape: shapes{Named: &name}, Color: 2, Rights: 0x1ff,
		Table: Map[string, uint8]{{"k", 1}, {"", 2}}, Texts: [][]string{{"a", "é"}, {""}, nil},
		Raw: []byte("raw"), Twice: &pn, LogPath: "log", SignedQ: math.MinInt64, UnsigneQ: math.MaxUint64,
	}
	for _, enc := range []Encoding{UTF8, UTF16, Latin1OrUTF16} {
		g := newGuest(1024)
		c := open(t, g.binding(enc))
		p, err := put(t, c, g, typ, cd, unsafe.Pointer(&v))
		require.NoError(t, err)
		var back everything
		require.NoError(t, cd.load(c, p, unsafe.Pointer(&back)))
		back.Texts[2] = nil
		require.Equal(t, v, back)

		var val Value
		require.NoError(t, dyn.load(c, p, unsafe.Pointer(&val)))
		q, err := put(t, c, g, typ, dyn, unsafe.Pointer(&val))
		require.NoError(t, err)
		var again everything
		require.NoError(t, cd.load(c, q, unsafe.Pointer(&again)))
		require.Equal(t, v, again)
		assert.Contains(t, Format(typ, val), `name: "naïve ☃", numbers: [1, 2147483648], reals: [+Inf, -0.5]`)
	}
}

func TestDerivedTypes(t *testing.T) {
	typ, _ := codecFor[everything](t)
	byName := map[string]string{}
	for _, f := range typ.Fields() {
		byName[f.Name] = f.Type.String()
	}
	assert.Equal(t, map[string]string{
		"yes": "bool", "small": "s8", "byte": "u8", "letter": "char", "name": "string",
		"numbers": "list<u32>", "reals": "list<f64>", "halves": "list<f32>",
		"points": "list<record {x: s16, y: s16}>", "corner": "list<record {x: s16, y: s16}, 2>",
		"maybe": "option<string>", "perhaps": "option<s64>", "outcome": "result<string, enum {red, green, blue}>",
		"nothing": "result", "shape": "variant {nothing, circle(f64), named(string)}",
		"color": "enum {red, green, blue}", "rights": "flags {l0, l1, l2, l3, l4, l5, l6, l7, l8}",
		"table": "map<string, u8>", "texts": "list<list<string>>", "raw": "list<u8>",
		"twice": "option<option<u8>>", "the-path": "string", "signed-q": "s64", "unsigne-q": "u64",
	}, byName)
}

func TestTypesThatCannotBeDerived(t *testing.T) {
	type loop struct{ Next *loop }
	type empty struct{}
	type badEnum struct{ X wideColor }
	for g, want := range map[reflect.Type]string{
		reflect.TypeFor[int]():                     "cannot tell the WIT type of Go int: there is none for int",
		reflect.TypeFor[map[string]int]():          "cannot tell the WIT type of Go map[string]int: there is none for map[string]int",
		reflect.TypeFor[any]():                     "cannot tell the WIT type of Go interface {}: there is none for interface {}",
		reflect.TypeFor[empty]():                   "cannot tell the WIT type of Go canon.empty: struct canon.empty has no fields",
		reflect.TypeFor[[0]uint8]():                "cannot tell the WIT type of Go [0]uint8: a list of fixed length must have an element, [0]uint8 has none",
		reflect.TypeFor[loop]():                    "nests deeper than 100",
		reflect.TypeFor[badEnum]():                 "field X: canon.wideColor has names, and is no unsigned integer of 8, 16 or 32 bits",
		reflect.TypeFor[badVariant]():              "case A is a string, and must be a bool or a pointer",
		reflect.TypeFor[Own[string]]():             "no resource is defined for string",
		reflect.TypeFor[Result[int, Unit]]():       "there is none for int",
		reflect.TypeFor[Map[string, int]]():        "there is none for int",
		reflect.TypeFor[struct{ A []chan bool }](): "field A: there is none for chan bool",
	} {
		_, err := TypeOf(g, nil)
		assert.ErrorContains(t, err, want)
	}
}

type wideColor uint64

func (wideColor) WITEnum() []string { return []string{"a"} }

type badVariant struct{ A string }

func (badVariant) WITVariant() {}

func TestMismatches(t *testing.T) {
	u8, str := Prim(KindU8), Prim(KindString)
	rec := func(name string, typ *Type) *Type { return RecordOf(Field{name, typ}) }
	for _, tc := range []struct {
		typ  *Type
		g    reflect.Type
		want string
	}{
		{u8, reflect.TypeFor[int8](), "a Go int8 cannot hold WIT u8"},
		{str, reflect.TypeFor[[]byte](), "a Go []uint8 cannot hold WIT string"},
		{ListOf(str), reflect.TypeFor[[]uint8](), "element: a Go uint8 cannot hold WIT string"},
		{ListOf(u8), reflect.TypeFor[string](), "a Go string cannot hold WIT list<u8>"},
		{FixedListOf(u8, 3), reflect.TypeFor[[2]uint8](), "a Go [2]uint8 cannot hold WIT list<u8, 3>"},
		{FixedListOf(u8, 2), reflect.TypeFor[[2]int8](), "element: a Go int8 cannot hold WIT u8"},
		{rec("log-path", OptionOf(u8)), reflect.TypeFor[struct{ LogPath *string }](), "log-path.some: a Go string cannot hold WIT u8"},
		{rec("log-path", u8), reflect.TypeFor[struct{ Path uint8 }](), `field 0 of Go struct { Path uint8 } is "path", of the WIT record "log-path"`},
		{rec("a", u8), reflect.TypeFor[point](), "a Go canon.point of 2 fields cannot hold WIT record of 1"},
		{rec("a", u8), reflect.TypeFor[Option[uint8]](), "a Go canon.Option[uint8] cannot hold WIT record {a: u8}"},
		{EnumOf(labels(257)...), reflect.TypeFor[uint8](), "a Go uint8 cannot hold WIT enum"},
		{EnumOf("red", "green"), reflect.TypeFor[color](), "a Go canon.color has 3 names, the WIT enum 2"},
		{EnumOf("red", "green", "brown"), reflect.TypeFor[color](), `name 2 of Go canon.color is "blue", of the WIT enum "brown"`},
		{FlagsOf("red", "green", "blue"), reflect.TypeFor[color](), "a Go canon.color cannot hold WIT flags"},
		{FlagsOf(labels(9)...), reflect.TypeFor[uint8](), "a Go uint8 cannot hold WIT flags"},
		{OptionOf(u8), reflect.TypeFor[uint8](), "a Go uint8 cannot hold WIT option<u8>"},
		{OptionOf(u8), reflect.TypeFor[Option[int8]](), "some: a Go int8 cannot hold WIT u8"},
		{ResultOf(u8, nil), reflect.TypeFor[*uint8](), "a Go *uint8 cannot hold WIT result<u8>"},
		{ResultOf(u8, nil), reflect.TypeFor[*Result[uint8, Unit]](), "a Go *canon.Result[uint8,github.com/murmur-capsule/murmur/host/internal/canon.Unit] cannot hold WIT result<u8>"},
		{OwnOf(&ResourceType{Name: "r"}), reflect.TypeFor[*Own[string]](), "a Go *canon.Own[string] cannot hold WIT own<r>"},
		{EnumOf("red", "green", "blue"), reflect.TypeFor[*color](), "a Go *canon.color cannot hold WIT enum"},
		{ResultOf(u8, nil), reflect.TypeFor[Result[uint8, uint8]](), "error of a Go uint8 does not match what WIT's carries"},
		{ResultOf(u8, nil), reflect.TypeFor[Result[int8, Unit]](), "ok: a Go int8 cannot hold WIT u8"},
		{VariantOf(Case{"a", nil}), reflect.TypeFor[point](), "a Go canon.point cannot hold WIT variant {a}: it is no struct with a method WITVariant"},
		{VariantOf(Case{"a", nil}), reflect.TypeFor[shapes](), "a Go canon.shapes of 3 cases cannot hold a WIT variant of 1"},
		{VariantOf(Case{"nothing", nil}, Case{"circle", u8}, Case{"named", str}), reflect.TypeFor[shapes](), "circle: a Go float64 cannot hold WIT u8"},
		{VariantOf(Case{"nothing", u8}, Case{"circle", u8}, Case{"named", str}), reflect.TypeFor[shapes](), "case nothing has a payload, its Go field must be a pointer, not a bool"},
		{VariantOf(Case{"nothing", nil}, Case{"circle", nil}, Case{"named", str}), reflect.TypeFor[shapes](), "case circle has no payload, its Go field must be a bool, not a *float64"},
		{VariantOf(Case{"nothing", nil}, Case{"square", u8}, Case{"named", str}), reflect.TypeFor[shapes](), `case 1 of Go canon.shapes is "circle", of the WIT variant "square"`},
		{OwnOf(&ResourceType{Name: "r"}), reflect.TypeFor[string](), "a Go string cannot hold WIT own<r>"},
		{OwnOf(&ResourceType{Name: "r"}), reflect.TypeFor[Borrow[string]](), "a Go canon.Borrow[string] cannot hold WIT own<r>"},
	} {
		_, err := newCompiler().compile(tc.typ, tc.g)
		var mismatch *MismatchError
		require.ErrorAs(t, err, &mismatch, "%s as %s", tc.typ, tc.g)
		assert.ErrorContains(t, err, tc.want)
	}
}

// What Go may hand over that is no value of the type: an error, not a trap of the
// guest.
func TestGoValuesThatAreNone(t *testing.T) {
	f := 1.0
	lower := func(v unsafe.Pointer, cd codec) error {
		g := newGuest(64)
		c := open(t, g.binding(UTF8))
		return errorsBoth(cd.lower(c, make([]uint64, 16), v), cd.store(c, 16, v))
	}
	_, cd := codecFor[color](t)
	bad := color(3)
	assert.EqualError(t, lower(unsafe.Pointer(&bad), cd), "cannot pass canon.color(3) to a guest: there are 3 cases")
	_, cd = codecFor[shapes](t)
	assert.EqualError(t, lower(unsafe.Pointer(&shapes{}), cd), "cannot pass a canon.shapes to a guest: no case is set")
	assert.EqualError(t, lower(unsafe.Pointer(&shapes{Nothing: true, Circle: &f}), cd), "cannot pass a canon.shapes to a guest: more than one case is set")
	_, cd = codecFor[Char](t)
	surrogate := Char(0xd800)
	g := newGuest(64)
	lanes := []uint64{0}
	require.NoError(t, cd.lower(open(t, g.binding(UTF8)), lanes, unsafe.Pointer(&surrogate)))
	assert.EqualValues(t, 0xfffd, lanes[0])
	require.NoError(t, cd.store(open(t, g.binding(UTF8)), 16, unsafe.Pointer(&surrogate)))
	_, cd = codecFor[string](t)
	text := "a\xff\xfeb"
	require.NoError(t, cd.store(open(t, g.binding(UTF8)), 16, unsafe.Pointer(&text)))
	require.NoError(t, cd.load(open(t, g.binding(UTF8)), 16, unsafe.Pointer(&text)))
	assert.Equal(t, "a\ufffdb", text)
}

// errorsBoth insists that both ways fail alike.
func errorsBoth(a, b error) error {
	if a == nil || b == nil || a.Error() != b.Error() {
		panic("one way is refused, and not the other")
	}
	return a
}

func TestKebab(t *testing.T) {
	for name, want := range map[string]string{
		"Data": "data", "LogPath": "log-path", "ContextID": "context-id", "ID": "id",
		"HTTPServer": "http-server", "A": "a", "Utf8Text": "utf8-text", "x": "x",
	} {
		assert.Equal(t, want, kebab(name))
	}
}
