package canon

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"
)

// The NaNs that every other NaN becomes on the way, so that no guest can learn,
// or smuggle, its bits.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

var scalars = map[Kind]struct {
	goKind reflect.Kind
	codec  codec
}{
	KindBool: {reflect.Bool, boolCodec{}},
	KindS8:   {reflect.Int8, int8Codec{}},
	KindU8:   {reflect.Uint8, uint8Codec{}},
	KindS16:  {reflect.Int16, int16Codec{}},
	KindU16:  {reflect.Uint16, uint16Codec{}},
	KindS32:  {reflect.Int32, word32Codec{}},
	KindU32:  {reflect.Uint32, word32Codec{}},
	KindS64:  {reflect.Int64, word64Codec{}},
	KindU64:  {reflect.Uint64, word64Codec{}},
	KindF32:  {reflect.Float32, float32Codec{}},
	KindF64:  {reflect.Float64, float64Codec{}},
	KindChar: {reflect.Int32, charCodec{}},
}

func (k *compiler) scalar(t *Type, g reflect.Type) (codec, error) {
	s, ok := scalars[t.kind]
	if !ok || g.Kind() != s.goKind {
		return nil, k.mismatch(t, g)
	}
	return s.codec, nil
}

type boolCodec struct{}

func (boolCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*bool)(dst) = c.mem[p] != 0
	return nil
}

func (boolCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	c.mem[p] = byte(bit(*(*bool)(src)))
	return nil
}

func (boolCodec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*bool)(dst) = uint32(lanes[0]) != 0
	return nil
}

func (boolCodec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = bit(*(*bool)(src))
	return nil
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// The signed codecs differ from the unsigned ones on the stack alone, where a
// negative number is extended to 32 bits.
type (
	int8Codec  struct{ uint8Codec }
	int16Codec struct{ uint16Codec }
)

func (int8Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(uint32(int32(*(*int8)(src))))
	return nil
}

func (int16Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(uint32(int32(*(*int16)(src))))
	return nil
}

type uint8Codec struct{}

func (uint8Codec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*uint8)(dst) = c.mem[p]
	return nil
}

func (uint8Codec) store(c *Call, p uint32, src unsafe.Pointer) error {
	c.mem[p] = *(*uint8)(src)
	return nil
}

func (uint8Codec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*uint8)(dst) = uint8(lanes[0])
	return nil
}

func (uint8Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(*(*uint8)(src))
	return nil
}

type uint16Codec struct{}

func (uint16Codec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*uint16)(dst) = binary.LittleEndian.Uint16(c.mem[p:])
	return nil
}

func (uint16Codec) store(c *Call, p uint32, src unsafe.Pointer) error {
	binary.LittleEndian.PutUint16(c.mem[p:], *(*uint16)(src))
	return nil
}

func (uint16Codec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*uint16)(dst) = uint16(lanes[0])
	return nil
}

func (uint16Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(*(*uint16)(src))
	return nil
}

type word32Codec struct{}

func (word32Codec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*uint32)(dst) = binary.LittleEndian.Uint32(c.mem[p:])
	return nil
}

func (word32Codec) store(c *Call, p uint32, src unsafe.Pointer) error {
	binary.LittleEndian.PutUint32(c.mem[p:], *(*uint32)(src))
	return nil
}

func (word32Codec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*uint32)(dst) = uint32(lanes[0])
	return nil
}

func (word32Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(*(*uint32)(src))
	return nil
}

type word64Codec struct{}

func (word64Codec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*uint64)(dst) = binary.LittleEndian.Uint64(c.mem[p:])
	return nil
}

func (word64Codec) store(c *Call, p uint32, src unsafe.Pointer) error {
	binary.LittleEndian.PutUint64(c.mem[p:], *(*uint64)(src))
	return nil
}

func (word64Codec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*uint64)(dst) = lanes[0]
	return nil
}

func (word64Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = *(*uint64)(src)
	return nil
}

type float32Codec struct{}

func (float32Codec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*uint32)(dst) = quiet32(binary.LittleEndian.Uint32(c.mem[p:]))
	return nil
}

func (float32Codec) store(c *Call, p uint32, src unsafe.Pointer) error {
	binary.LittleEndian.PutUint32(c.mem[p:], quiet32(*(*uint32)(src)))
	return nil
}

func (float32Codec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*uint32)(dst) = quiet32(uint32(lanes[0]))
	return nil
}

func (float32Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(quiet32(*(*uint32)(src)))
	return nil
}

type float64Codec struct{}

func (float64Codec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*uint64)(dst) = quiet64(binary.LittleEndian.Uint64(c.mem[p:]))
	return nil
}

func (float64Codec) store(c *Call, p uint32, src unsafe.Pointer) error {
	binary.LittleEndian.PutUint64(c.mem[p:], quiet64(*(*uint64)(src)))
	return nil
}

func (float64Codec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*uint64)(dst) = quiet64(lanes[0])
	return nil
}

func (float64Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = quiet64(*(*uint64)(src))
	return nil
}

// quiet32 is the bits of a float32 with any NaN made the canonical one.
func quiet32(bits uint32) uint32 {
	if f := math.Float32frombits(bits); f != f {
		return nan32
	}
	return bits
}

// quiet64 is the bits of a float64 with any NaN made the canonical one.
func quiet64(bits uint64) uint64 {
	if f := math.Float64frombits(bits); f != f {
		return nan64
	}
	return bits
}

type charCodec struct{}

func (charCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	return putChar(binary.LittleEndian.Uint32(c.mem[p:]), dst)
}

func (charCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	binary.LittleEndian.PutUint32(c.mem[p:], scalarValue(*(*uint32)(src)))
	return nil
}

func (charCodec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	return putChar(uint32(lanes[0]), dst)
}

func (charCodec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(scalarValue(*(*uint32)(src)))
	return nil
}

func putChar(r uint32, dst unsafe.Pointer) error {
	if !isScalarValue(r) {
		return trapf(textChar)
	}
	*(*uint32)(dst) = r
	return nil
}

// isScalarValue tells whether r is a Unicode code point, and not a surrogate.
func isScalarValue(r uint32) bool { return r < 0xd800 || r > 0xdfff && r < 0x110000 }

// scalarValue is r, or U+FFFD for a rune of Go that is no scalar value.
func scalarValue(r uint32) uint32 {
	if !isScalarValue(r) {
		return 0xfffd
	}
	return r
}
