package canon

import (
	"encoding/binary"
	"reflect"
	"unsafe"
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
