package canon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// words writes 32-bit numbers to guest memory, from address 16 on.
func words(g *guest, values ...uint32) {
	for i, v := range values {
		binary.LittleEndian.PutUint32(g.mem[16+4*i:], v)
	}
}

// What a guest may hand over that is not a value: the host's words for it, and
// those of a call between components.
func TestHostileMemory(t *testing.T) {
	const end = 256
	str, chr := Prim(KindString), Prim(KindChar)
	for _, tc := range []struct {
		name        string
		typ         *Type
		enc         Encoding
		words       []uint32
		host, fused string
	}{
		{"string beyond the end", str, UTF8, []uint32{end - 3, 4}, textStringRange, textFusedStringRange},
		{"string of 4 GiB", str, UTF8, []uint32{1, 0xffffffff}, textStringRange, textFusedStringRange},
		{"string far away", str, UTF8, []uint32{0xffffffff, 1}, textStringRange, textFusedStringRange},
		{"empty string beyond the end", str, UTF8, []uint32{end + 1, 0}, textStringRange, textFusedStringRange},
		{"utf16 string of 8 GiB", str, UTF16, []uint32{0, 0xffffffff}, textStringRange, textFusedStringRange},
		{"utf16 string that is odd", str, UTF16, []uint32{1, 0}, textStringAlign, textFusedAlign},
		{"latin1 string that is odd", str, Latin1OrUTF16, []uint32{1, 0}, textStringAlign, textFusedAlign},
		{"latin1 string of 2 GiB", str, Latin1OrUTF16, []uint32{0, 0x7fffffff}, textStringRange, textFusedStringRange},
		{"wide string beyond the end", str, Latin1OrUTF16, []uint32{end - 2, 0x80000002}, textStringRange, textFusedStringRange},
		{"bytes that are no UTF-8", str, UTF8, []uint32{24, 2, 0x61ff}, textUTF8, textUTF8},
		{"UTF-8 that is cut", str, UTF8, []uint32{24, 2, 0xc361}, textUTF8Short, textUTF8Short},
		{"a surrogate in UTF-8", str, UTF8, []uint32{24, 3, 0x80a0ed}, textUTF8, textUTF8},
		{"high surrogate alone", str, UTF16, []uint32{24, 2, 0x0061d800}, textUTF16, textUTF16},
		{"high surrogate at the end", str, UTF16, []uint32{24, 1, 0xd800}, textUTF16, textUTF16},
		{"low surrogate alone", str, UTF16, []uint32{24, 2, 0x0061dc00}, textUTF16, textUTF16},
		{"wide string with half a pair", str, Latin1OrUTF16, []uint32{24, 0x80000001, 0xdc00}, textUTF16, textUTF16},
		{"list beyond the end", ListOf(Prim(KindU32)), UTF8, []uint32{end - 4, 2}, textListRange, textFusedListRange},
		{"list of 16 GiB", ListOf(Prim(KindU32)), UTF8, []uint32{0, 0xffffffff}, textListRange, textFusedListRange},
		{"list that is not aligned", ListOf(Prim(KindU32)), UTF8, []uint32{2, 1}, textListAlign, textFusedAlign},
		{"empty list that is not aligned", ListOf(Prim(KindU64)), UTF8, []uint32{4, 0}, textListAlign, textFusedAlign},
		{"empty list beyond the end", ListOf(Prim(KindU8)), UTF8, []uint32{end + 1, 0}, textListRange, textFusedListRange},
		{"list of records beyond the end", ListOf(TupleOf(str, str)), UTF8, []uint32{16, 100}, textListRange, textFusedListRange},
		{"map beyond the end", MapOf(str, str), UTF8, []uint32{16, 100}, textListRange, textFusedListRange},
		{"inner list beyond the end", ListOf(ListOf(Prim(KindU8))), UTF8, []uint32{24, 1, end, 1}, textListRange, textFusedListRange},
		{"char too large", chr, UTF8, []uint32{0x110000}, textChar, textChar},
		{"char that is a surrogate", chr, UTF8, []uint32{0xd800}, textChar, textChar},
		{"char that is the last surrogate", chr, UTF8, []uint32{0xdfff}, textChar, textChar},
		{"enum", EnumOf("a", "b"), UTF8, []uint32{2}, "discriminant 2 out of range [0..2)", textFusedDiscriminant},
		{"wide enum", EnumOf(labels(300)...), UTF8, []uint32{300}, "discriminant 300 out of range [0..300)", textFusedDiscriminant},
		{"variant", VariantOf(Case{"a", nil}, Case{"b", str}), UTF8, []uint32{255}, "discriminant 255 out of range [0..2)", textFusedDiscriminant},
		{"option", OptionOf(str), UTF8, []uint32{2}, "discriminant 2 out of range [0..2)", textFusedDiscriminant},
		{"result", ResultOf(str, nil), UTF8, []uint32{7}, "discriminant 7 out of range [0..2)", textFusedDiscriminant},
		{"handle", OwnOf(&ResourceType{Fixed: &Resource{}}), UTF8, []uint32{5}, "unknown handle index 5", "unknown handle index 5"},
		{"borrow", BorrowOf(&ResourceType{Fixed: &Resource{}}), UTF8, []uint32{0}, "unknown handle index 0", "unknown handle index 0"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for fused, want := range map[bool]string{false: tc.host, true: tc.fused} {
				g := newGuest(end)
				words(g, tc.words...)
				b := g.binding(tc.enc)
				b.Fused = fused
				var v Value
				err := dynamicCodec(t, tc.typ).load(open(t, b), 16, unsafe.Pointer(&v))
				var trap *Trap
				require.ErrorAs(t, err, &trap)
				assert.Equal(t, want, trap.Error())
			}
		})
	}
}

// The same through codecs of Go types, which have code of their own.
func TestHostileMemoryAsGoTypes(t *testing.T) {
	const end = 256
	c := func(t *testing.T, w ...uint32) *Call {
		g := newGuest(end)
		words(g, w...)
		return open(t, g.binding(UTF8))
	}
	assert.EqualError(t, loadGo[[]uint32](t, c(t, end, 1)), textListRange)
	assert.EqualError(t, loadGo[[]string](t, c(t, 24, 1, end, 1)), textStringRange)
	assert.EqualError(t, loadGo[string](t, c(t, end, 1)), textStringRange)
	assert.EqualError(t, loadGo[Char](t, c(t, 0xd8ff)), textChar)
	assert.EqualError(t, loadGo[[]Char](t, c(t, 24, 1, 0x110000)), textChar)
	assert.EqualError(t, loadGo[[1]Char](t, c(t, 0x110000)), textChar)
	assert.EqualError(t, loadGo[*uint8](t, c(t, 2)), "discriminant 2 out of range [0..2)")
	assert.EqualError(t, loadGo[Option[uint8]](t, c(t, 3)), "discriminant 3 out of range [0..2)")
	assert.EqualError(t, loadGo[Result[uint8, Unit]](t, c(t, 4)), "discriminant 4 out of range [0..2)")
	assert.EqualError(t, loadGo[color](t, c(t, 3)), "discriminant 3 out of range [0..3)")
	assert.EqualError(t, loadGo[shapes](t, c(t, 9)), "discriminant 9 out of range [0..3)")
	assert.EqualError(t, loadGo[pairOfTexts](t, c(t, 0, 0, end, 1)), textStringRange)
	assert.EqualError(t, loadGo[**string](t, c(t, 1, 1, end, 1)), textStringRange)
}

func loadGo[T any](t *testing.T, c *Call) error {
	t.Helper()
	_, cd := codecFor[T](t)
	var v T
	return cd.load(c, 16, unsafe.Pointer(&v))
}

func TestHostileLanes(t *testing.T) {
	str := Prim(KindString)
	for _, tc := range []struct {
		typ   *Type
		lanes []uint64
		want  string
	}{
		{Prim(KindChar), []uint64{0x110000}, textChar},
		{str, []uint64{1 << 31, 1}, textStringRange},
		{ListOf(Prim(KindU16)), []uint64{1, 0}, textListAlign},
		{EnumOf("a"), []uint64{1}, "discriminant 1 out of range [0..1)"},
		{OptionOf(str), []uint64{2, 0, 0}, "discriminant 2 out of range [0..2)"},
		{ResultOf(nil, nil), []uint64{0xffffffff}, "discriminant 4294967295 out of range [0..2)"},
		{VariantOf(Case{"a", str}), []uint64{0, 0, 0xffffffff}, textStringRange},
		{FixedListOf(Prim(KindChar), 2), []uint64{0, 0xd800}, textChar},
	} {
		var v Value
		err := dynamicCodec(t, tc.typ).lift(open(t, newGuest(64).binding(UTF8)), tc.lanes, unsafe.Pointer(&v))
		assert.EqualError(t, err, tc.want, tc.typ)
	}
}

func TestNarrowNumbersAreCut(t *testing.T) {
	// Wider than the type is no error: the rest is ignored.
	for _, tc := range []struct {
		typ  *Type
		lane uint64
		want uint64
	}{
		{Prim(KindBool), 256, 1},
		{Prim(KindBool), 1 << 32, 0},
		{Prim(KindU8), 256 + 7, 7},
		{Prim(KindS8), 0xff, 1<<64 - 1},
		{Prim(KindU16), 0x1ffff, 0xffff},
		{Prim(KindS16), 0x8000, 1<<64 - 0x8000},
		{Prim(KindU32), 1<<40 | 5, 5},
		{Prim(KindF32), 0xffc00001, nan32},
		{Prim(KindF64), 0xfff8000000000001, nan64},
		{FlagsOf("a", "b"), 0xff, 3},
	} {
		var v Value
		c := open(t, newGuest(64).binding(UTF8))
		require.NoError(t, dynamicCodec(t, tc.typ).lift(c, []uint64{tc.lane}, unsafe.Pointer(&v)))
		assert.Equal(t, tc.want, v.Uint(), tc.typ)
	}
}

func TestReallocThatLies(t *testing.T) {
	broken := errors.New("wasm error: unreachable")
	for _, tc := range []struct {
		name        string
		enc         Encoding
		value       Value
		typ         *Type
		lie         func([4]uint32) (uint32, error)
		host, fused string
	}{
		{"beyond the end", UTF8, Str("abc"), Prim(KindString),
			func([4]uint32) (uint32, error) { return 62, nil }, textReallocRange, textFusedStringRange},
		{"beyond the end for nothing", UTF8, Str(""), Prim(KindString),
			func([4]uint32) (uint32, error) { return 65, nil }, textReallocRange, textFusedStringRange},
		{"far beyond the end", UTF8, Str("abc"), Prim(KindString),
			func([4]uint32) (uint32, error) { return 0xffffffff, nil }, textReallocRange, textFusedStringRange},
		{"odd for UTF-16", UTF16, Str("abc"), Prim(KindString),
			func([4]uint32) (uint32, error) { return 3, nil }, textReallocAlign, textFusedAlign},
		{"odd for Latin-1", Latin1OrUTF16, Str("abc"), Prim(KindString),
			func([4]uint32) (uint32, error) { return 3, nil }, textReallocAlign, textFusedAlign},
		{"list beyond the end", UTF8, Seq(Bits(1), Bits(2)), ListOf(Prim(KindU32)),
			func([4]uint32) (uint32, error) { return 60, nil }, textReallocRange, textFusedListRange},
		{"list of nothing beyond the end", UTF8, Seq(), ListOf(Prim(KindU32)),
			func([4]uint32) (uint32, error) { return 0xfffffffc, nil }, textReallocRange, textFusedListRange},
		{"list that is not aligned", UTF8, Seq(), ListOf(Prim(KindU32)),
			func([4]uint32) (uint32, error) { return 0xffffffff, nil }, textReallocAlign, textFusedAlign},
		{"trap", UTF8, Str("abc"), Prim(KindString),
			func([4]uint32) (uint32, error) { return 0, broken }, "realloc: " + broken.Error(), "realloc: " + broken.Error()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for fused, want := range map[bool]string{false: tc.host, true: tc.fused} {
				g := newGuest(64)
				g.lie = tc.lie
				b := g.binding(tc.enc)
				b.Fused = fused
				err := dynamicCodec(t, tc.typ).lower(open(t, b), make([]uint64, 2), unsafe.Pointer(&tc.value))
				assert.EqualError(t, err, want)
				assert.Empty(t, b.Instance.reallocs)
				assert.NoError(t, b.Instance.MayLeave("x"))
			}
		})
	}
}

// A later step of an allocation may lie too.
func TestReallocThatLiesLater(t *testing.T) {
	for _, tc := range []struct {
		enc  Encoding
		src  srcEncoding
		text string
		step int
	}{
		{UTF8, srcUTF16, "é", 1}, {UTF8, srcUTF16, "é", 2}, {UTF16, srcUTF8, "éé", 1},
		{Latin1OrUTF16, srcUTF8, "é", 1}, {Latin1OrUTF16, srcUTF16, "aΣ", 1},
		{Latin1OrUTF16, srcUTF8, "aΣ", 2}, {Latin1OrUTF16, srcWide, "ab", 1},
	} {
		t.Run(fmt.Sprint(tc.enc, tc.src, tc.text, tc.step), func(t *testing.T) {
			g := newGuest(64)
			g.lie = func([4]uint32) (uint32, error) {
				if len(g.calls) == tc.step+1 {
					return 0xfffffffe, nil
				}
				return 8, nil
			}
			b := g.binding(tc.enc)
			b.Fused = true
			_, _, err := open(t, b).lowerString(tc.text, tc.src)
			assert.EqualError(t, err, textFusedStringRange)
			assert.Len(t, g.calls, tc.step+1)
		})
	}
}

func TestBudget(t *testing.T) {
	g := newGuest(1 << 16)
	b := g.binding(UTF8)
	b.Instance = NewInstance(nil, Limits{CallBytes: 1000})
	for name, load := range map[string]func(c *Call) error{
		"string": func(c *Call) error { return loadGo[string](t, c) },
		"bytes":  func(c *Call) error { return loadGo[[]byte](t, c) },
		// Four bytes of the guest make a pointer and a box of the host.
		"options": func(c *Call) error { return loadGo[[]*uint8](t, c) },
		"variants": func(c *Call) error {
			g.mem[100] = 1
			return loadGo[[]shapes](t, c)
		},
		"values": func(c *Call) error {
			var v Value
			return dynamicCodec(t, ListOf(TupleOf(Prim(KindU8)))).load(c, 16, unsafe.Pointer(&v))
		},
		"image": func(c *Call) error {
			var v Value
			return dynamicCodec(t, ListOf(Prim(KindU8))).load(c, 16, unsafe.Pointer(&v))
		},
		"cases": func(c *Call) error {
			var v Value
			return dynamicCodec(t, ListOf(OptionOf(Prim(KindU8)))).load(c, 16, unsafe.Pointer(&v))
		},
	} {
		t.Run(name, func(t *testing.T) {
			words(g, 64, 1001)
			for i := range 4000 {
				g.mem[64+i] = 1
			}
			assert.EqualError(t, load(open(t, b)), "a call made the host allocate more than 1000 bytes")
		})
	}
	t.Run("wide strings", func(t *testing.T) {
		for _, enc := range []Encoding{UTF16, Latin1OrUTF16} {
			b.Encoding = enc
			words(g, 64, 700)
			for i := range 1400 {
				g.mem[64+i] = 0xe9
			}
			assert.EqualError(t, loadGo[string](t, open(t, b)), "a call made the host allocate more than 1000 bytes")
		}
	})
}

func TestValueLimit(t *testing.T) {
	g := newGuest(1 << 12)
	b := g.binding(UTF8)
	b.Instance = NewInstance(nil, Limits{ValueBytes: 10})
	words(g, 64, 11)
	assert.EqualError(t, loadGo[string](t, open(t, b)), "a string of 11 bytes is longer than the limit of 10")
	assert.EqualError(t, loadGo[[]byte](t, open(t, b)), "a list of 11 bytes is longer than the limit of 10")
	_, _, err := open(t, b).lowerString("0123456789a", srcUTF8)
	assert.EqualError(t, err, "a string of 11 bytes is longer than the limit of 10")
	_, err = open(t, b).allocList(3, 4, 4)
	assert.EqualError(t, err, "a list of 12 bytes is longer than the limit of 10")
	assert.Empty(t, g.calls)

	// Between components the limit is a bound like that of memory, and holds for
	// the largest block that a string may need on the way.
	b.Fused, b.Encoding = true, UTF16
	err = loadGo[string](t, open(t, b))
	assert.EqualError(t, err, "string content out-of-bounds: a string of 22 bytes is longer than the limit of 10")
	_, _, err = open(t, b).lowerString("0123456", srcUTF8)
	assert.EqualError(t, err, "string content out-of-bounds: a string of 14 bytes is longer than the limit of 10")
	assert.Empty(t, g.calls)
}

func TestNoMemoryAndNoRealloc(t *testing.T) {
	b := &Binding{Instance: NewInstance(nil, Limits{})}
	var s string
	_, cd := codecFor[string](t)
	assert.EqualError(t, cd.lift(open(t, b), []uint64{0, 1}, unsafe.Pointer(&s)), textStringRange)
	_, _, err := open(t, b).lowerString("a", srcUTF8)
	assert.EqualError(t, err, "the guest has no realloc function")
}
