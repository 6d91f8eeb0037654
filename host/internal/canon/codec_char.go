package canon

import (
	"encoding/binary"
	"unsafe"
)

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
