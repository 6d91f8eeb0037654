package canon

import (
	"encoding/binary"
	"reflect"
	"unsafe"
)

func (k *compiler) text(t *Type, g reflect.Type) (codec, error) {
	if g.Kind() != reflect.String {
		return nil, k.mismatch(t, g)
	}
	return stringCodec{}, nil
}

type stringCodec struct{}

func (stringCodec) load(c *Call, p uint32, dst unsafe.Pointer) (err error) {
	ptr, n := c.loadPair(p)
	*(*string)(dst), _, err = c.liftString(ptr, n)
	return err
}

func (stringCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	ptr, n, err := c.lowerString(*(*string)(src), srcUTF8)
	if err != nil {
		return err
	}
	c.storePair(p, ptr, n)
	return nil
}

func (stringCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) (err error) {
	*(*string)(dst), _, err = c.liftString(uint32(lanes[0]), uint32(lanes[1]))
	return err
}

func (stringCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	ptr, n, err := c.lowerString(*(*string)(src), srcUTF8)
	lanes[0], lanes[1] = uint64(ptr), uint64(n)
	return err
}

// loadPair reads the pointer and length of a string or list.
func (c *Call) loadPair(p uint32) (ptr, n uint32) {
	b := c.mem[p : p+8]
	return binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
}

// storePair writes the pointer and length of a string or list.
func (c *Call) storePair(p, ptr, n uint32) {
	b := c.mem[p : p+8]
	binary.LittleEndian.PutUint32(b, ptr)
	binary.LittleEndian.PutUint32(b[4:], n)
}
