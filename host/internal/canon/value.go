package canon

import "unsafe"

// A Value holds a value of any component type in three words. It does not know
// its type: whoever reads it does. An accessor that does not fit panics, a value
// that does not fit is refused when it is lowered.
type Value struct {
	p     unsafe.Pointer
	n     uint64
	shape shape
	enc   srcEncoding
}

type (
	shape       uint8
	srcEncoding uint8
)

// Bits is a scalar: a bool, a number (a float as its IEEE bits), a char, or
// flags; also the case of an enum.
func Bits(n uint64) Value { panic("not yet") }

// Str is a string.
func Str(s string) Value { panic("not yet") }

// Bytes is a list<u8>, or any other list of fixed-width numbers of which data is
// the image in memory and count the length.
func Bytes(data []byte, count int) Value { panic("not yet") }

// Seq is a list, fixed-length list, map, record or tuple.
func Seq(values []Value) Value { panic("not yet") }

// Cased is a variant, option (0 none, 1 some) or result (0 ok, 1 error). The
// payload is nil for a case that has none.
func Cased(index uint32, payload *Value) Value { panic("not yet") }

// Handle is an own or a borrow.
func Handle(r Rep) Value { panic("not yet") }

// Uint is the bits of a scalar, or the case of an enum, variant, option, result.
func (v Value) Uint() uint64 { panic("not yet") }

// Text is the string.
func (v Value) Text() string { panic("not yet") }

// Len is how many elements or fields there are.
func (v Value) Len() int { panic("not yet") }

// At is the i-th element or field of a value of type t.
func (v Value) At(t *Type, i int) Value { panic("not yet") }

// Payload is what a variant, option or result carries, or nil.
func (v Value) Payload() *Value { panic("not yet") }

// Rep is what an own or borrow stands for.
func (v Value) Rep() Rep { panic("not yet") }

// EqualValues tells whether a and b are the same value of type t. NaNs are equal.
func EqualValues(t *Type, a, b Value) bool { panic("not yet") }

// Format prints a value of type t, in the manner of WAVE.
func Format(t *Type, v Value) string { panic("not yet") }
