package canon

import (
	"fmt"
	"unsafe"
)

// dynamic makes the codec between t and a Value.
func (k *compiler) dynamic(t *Type) (codec, error) {
	switch t.kind {
	case KindString:
		return valueString{}, nil
	case KindList, KindMap:
		return k.valueList(t)
	case KindFixedList:
		elem, err := k.in("element", t.elem, valueType)
		parts := fixedListCodec{elem, t.length, uint32(t.elem.Size()), len(t.elem.layout.flat.types), valueSize}
		return &valueSeq{n: int(t.length), parts: &parts}, err
	case KindRecord, KindTuple:
		return k.valueRecord(t)
	case KindVariant, KindOption, KindResult:
		return k.valueCase(t)
	case KindOwn, KindBorrow:
		return &valueHandle{t.res, t.kind == KindOwn}, nil
	default:
		return newValueScalar(t), nil
	}
}

// expect refuses a value that is not held in the shape that its type asks for.
func (v *Value) expect(s shape, t string) error {
	if v.shape != s {
		return fmt.Errorf("cannot pass %s to a guest as a %s", v.shape, t)
	}
	return nil
}

// A valueScalar is a number of any kind, a char, an enum or flags.
type valueScalar struct {
	kind  Kind
	size  uint32
	cases int
	mask  uint32
}

func newValueScalar(t *Type) *valueScalar {
	s := &valueScalar{kind: t.kind, size: uint32(t.Size()), cases: len(t.cases)}
	if t.kind == KindFlags {
		s.mask = flagsMask(len(t.labels))
	}
	return s
}

// read makes the bits of a Value from those of the guest.
func (s *valueScalar) read(c *Call, n uint64, dst unsafe.Pointer) error {
	n = extend(s.kind, n)
	switch s.kind {
	case KindFlags:
		n &= uint64(s.mask)
	case KindEnum:
		if err := c.discriminant(uint32(n), s.cases); err != nil {
			return err
		}
	case KindChar:
		if !isScalarValue(uint32(n)) {
			return trapf(textChar)
		}
	}
	*(*Value)(dst) = Bits(n)
	return nil
}

// write makes the bits for the stack from those of a Value.
func (s *valueScalar) write(src unsafe.Pointer) (uint64, error) {
	v := (*Value)(src)
	if err := v.expect(shapeBits, s.kind.String()); err != nil {
		return 0, err
	}
	n := extend(s.kind, v.n)
	switch {
	case s.kind == KindFlags:
		n &= uint64(s.mask)
	case s.kind == KindEnum && n >= uint64(s.cases):
		return 0, fmt.Errorf("cannot pass case %d of an enum of %d to a guest", n, s.cases)
	case s.kind == KindChar:
		n = uint64(scalarValue(uint32(n)))
	case s.size < 8:
		n = uint64(uint32(n))
	}
	return n, nil
}

func (s *valueScalar) load(c *Call, p uint32, dst unsafe.Pointer) error {
	return s.read(c, littleUint(c.mem[p:p+s.size]), dst)
}

func (s *valueScalar) store(c *Call, p uint32, src unsafe.Pointer) error {
	n, err := s.write(src)
	if err != nil {
		return err
	}
	if s.size == 8 {
		c.storeUint(p, 4, uint32(n))
		c.storeUint(p+4, 4, uint32(n>>32))
		return nil
	}
	c.storeUint(p, s.size, uint32(n))
	return nil
}

func (s *valueScalar) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	return s.read(c, lanes[0], dst)
}

func (s *valueScalar) lower(_ *Call, lanes []uint64, src unsafe.Pointer) (err error) {
	lanes[0], err = s.write(src)
	return err
}

// A valueString is a string; the Value remembers what its encoding was.
type valueString struct{}

func (valueString) read(c *Call, ptr, n uint32, dst unsafe.Pointer) error {
	s, enc, err := c.liftString(ptr, n)
	if err == nil {
		*(*Value)(dst) = textValue(s, enc)
	}
	return err
}

func (valueString) write(c *Call, src unsafe.Pointer) (ptr, n uint32, err error) {
	v := (*Value)(src)
	if err := v.expect(shapeText, "string"); err != nil {
		return 0, 0, err
	}
	return c.lowerString(v.Text(), v.enc)
}

func (s valueString) load(c *Call, p uint32, dst unsafe.Pointer) error {
	ptr, n := c.loadPair(p)
	return s.read(c, ptr, n, dst)
}

func (s valueString) store(c *Call, p uint32, src unsafe.Pointer) error {
	ptr, n, err := s.write(c, src)
	if err == nil {
		c.storePair(p, ptr, n)
	}
	return err
}

func (s valueString) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	return s.read(c, uint32(lanes[0]), uint32(lanes[1]), dst)
}

func (s valueString) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	ptr, n, err := s.write(c, src)
	lanes[0], lanes[1] = uint64(ptr), uint64(n)
	return err
}

// A valueHandle is an own or borrow of any resource.
type valueHandle struct {
	res *ResourceType
	own bool
}

func (h *valueHandle) read(c *Call, index uint32, dst unsafe.Pointer) error {
	rep, err := c.liftHandle(h.res, h.own, index)
	if err == nil {
		*(*Value)(dst) = Handle(rep)
	}
	return err
}

func (h *valueHandle) write(c *Call, src unsafe.Pointer) (uint32, error) {
	v := (*Value)(src)
	if err := v.expect(shapeHandle, "handle"); err != nil {
		return 0, err
	}
	return c.lowerHandle(h.res, h.own, v.Rep())
}

func (h *valueHandle) load(c *Call, p uint32, dst unsafe.Pointer) error {
	return h.read(c, c.loadUint(p, 4), dst)
}

func (h *valueHandle) store(c *Call, p uint32, src unsafe.Pointer) error {
	n, err := h.write(c, src)
	if err == nil {
		c.storeUint(p, 4, n)
	}
	return err
}

func (h *valueHandle) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	return h.read(c, uint32(lanes[0]), dst)
}

func (h *valueHandle) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	n, err := h.write(c, src)
	lanes[0] = uint64(n)
	return err
}
