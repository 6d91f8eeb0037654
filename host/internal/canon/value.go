package canon

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// A Value holds a value of any component type in three words. It does not know
// its type: whoever reads it does. An accessor that does not fit panics; a value
// that does not fit is refused when it is lowered.
type Value struct {
	p     unsafe.Pointer
	n     uint64
	shape shape
	enc   srcEncoding
}

// A shape says how a Value is held.
type shape uint8

const (
	// shapeBits: a number, in n.
	shapeBits shape = iota + 1
	// shapeText: a string, p its bytes, n their number.
	shapeText
	// shapeImage: a list of numbers as it lies in memory; p its bytes, the low
	// half of n their number, the high half that of the elements.
	shapeImage
	// shapeSeq: n values in a row, from p on.
	shapeSeq
	// shapeCase: the case n, p its payload or nil.
	shapeCase
	// shapeHandle: the guest's representation in n, Go's boxed at p or nil.
	shapeHandle
)

var shapeNames = [...]string{"nothing", "a scalar", "a string", "a list of numbers", "a sequence", "a case", "a handle"}

func (s shape) String() string { return shapeNames[s] }

const valueSize = unsafe.Sizeof(Value{})

// Bits is a scalar: a bool, a number (a float as its IEEE bits, a negative
// integer sign-extended to 64 bits), a char, or flags; also the case of an enum.
func Bits(n uint64) Value { return Value{n: n, shape: shapeBits} }

// Float32 is an f32.
func Float32(f float32) Value { return Bits(uint64(math.Float32bits(f))) }

// Float64 is an f64.
func Float64(f float64) Value { return Bits(math.Float64bits(f)) }

// Str is a string.
func Str(s string) Value { return textValue(s, srcUTF8) }

func textValue(s string, enc srcEncoding) Value {
	return Value{p: unsafe.Pointer(unsafe.StringData(s)), n: uint64(len(s)), shape: shapeText, enc: enc}
}

// Bytes is a list<u8>. The value keeps data.
func Bytes(data []byte) Value { return Image(data, len(data)) }

// Image is a list of count numbers of fixed width, and data what they are in
// guest memory, little-endian. The value keeps data.
func Image(data []byte, count int) Value {
	return Value{p: unsafe.Pointer(unsafe.SliceData(data)), n: uint64(count)<<32 | uint64(uint32(len(data))), shape: shapeImage}
}

// Seq is a list, fixed-length list, map (of tuples), record or tuple. The value
// keeps the slice.
func Seq(values ...Value) Value {
	return Value{p: unsafe.Pointer(unsafe.SliceData(values)), n: uint64(len(values)), shape: shapeSeq}
}

// Cased is a variant, option (0 none, 1 some) or result (0 ok, 1 error). The
// payload is nil for a case that has none.
func Cased(index uint32, payload *Value) Value {
	return Value{p: unsafe.Pointer(payload), n: uint64(index), shape: shapeCase}
}

// Handle is an own or a borrow.
func Handle(r Rep) Value {
	v := Value{n: uint64(r.Guest), shape: shapeHandle}
	if r.Go != nil {
		v.p = unsafe.Pointer(&r.Go)
	}
	return v
}

// must panics unless v is held in the shape that the caller reads.
func (v Value) must(s shape) {
	if v.shape != s {
		panic(fmt.Sprintf("internal error: a value that is %s is read as %s", v.shape, s))
	}
}

// Uint is the bits of a scalar, or the number of the case that is set.
func (v Value) Uint() uint64 {
	if v.shape != shapeCase {
		v.must(shapeBits)
	}
	return v.n
}

// Text is the string.
func (v Value) Text() string {
	v.must(shapeText)
	return unsafe.String((*byte)(v.p), v.n)
}

// image is the bytes of a list of numbers.
func (v Value) image() []byte { return unsafe.Slice((*byte)(v.p), uint32(v.n)) }

// seq is the parts of a list, record or tuple.
func (v Value) seq() []Value { return unsafe.Slice((*Value)(v.p), v.n) }

// Len is how many elements or fields there are.
func (v Value) Len() int {
	if v.shape == shapeImage {
		return int(v.n >> 32)
	}
	v.must(shapeSeq)
	return int(v.n)
}

// At is the i-th element or field of a value of type t.
func (v Value) At(t *Type, i int) Value {
	if v.shape == shapeImage {
		return imageAt(t.elem.kind, v.image(), i)
	}
	v.must(shapeSeq)
	return v.seq()[i]
}

// imageAt is the i-th number of an image of numbers of kind k.
func imageAt(k Kind, image []byte, i int) Value {
	size := int(scalarSize(k))
	return Bits(extend(k, littleUint(image[i*size:][:size])))
}

// littleUint is the number that b is in guest memory.
func littleUint(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	default:
		return binary.LittleEndian.Uint64(b)
	}
}

// extend makes a Value's bits of a number of kind k that is in the low bits of n.
func extend(k Kind, n uint64) uint64 {
	switch k {
	case KindU8:
		return uint64(uint8(n))
	case KindS8:
		return uint64(int8(n))
	case KindU16:
		return uint64(uint16(n))
	case KindS16:
		return uint64(int16(n))
	case KindS32:
		return uint64(int32(n))
	case KindU64, KindS64:
		return n
	case KindF64:
		return quiet64(n)
	case KindF32:
		return uint64(quiet32(uint32(n)))
	case KindBool:
		return bit(uint32(n) != 0)
	default:
		return uint64(uint32(n))
	}
}

// Payload is what a variant, option or result carries, or nil.
func (v Value) Payload() *Value {
	v.must(shapeCase)
	return (*Value)(v.p)
}

// Rep is what an own or borrow stands for.
func (v Value) Rep() Rep {
	v.must(shapeHandle)
	r := Rep{Guest: uint32(v.n)}
	if v.p != nil {
		r.Go = *(*any)(v.p)
	}
	return r
}
