package canon

import (
	"fmt"
	"unsafe"
)

// A valueList is a list or map: an image where the elements are numbers, else
// values in a row.
type valueList struct {
	elem  codec
	kind  Kind
	size  uint32
	align uint32
	bulk  bool
}

func (k *compiler) valueList(t *Type) (codec, error) {
	elem, err := k.in("element", t.elem, valueType)
	return &valueList{
		elem:  elem,
		kind:  t.elem.kind,
		size:  uint32(t.elem.Size()),
		align: t.elem.Align(),
		bulk:  isNumber(t.elem.kind),
	}, err
}

func (l *valueList) read(c *Call, ptr, n uint32, dst unsafe.Pointer) error {
	if err := c.listArea(ptr, n, l.size, l.align); err != nil {
		return err
	}
	if l.bulk {
		return l.readImage(c, c.mem[ptr:uint64(ptr)+uint64(n)*uint64(l.size)], n, dst)
	}
	values, err := c.newValues(uint64(n))
	if err != nil {
		return err
	}
	for i := range n {
		if err := l.elem.load(c, ptr+i*l.size, unsafe.Pointer(&values[i])); err != nil {
			return err
		}
	}
	*(*Value)(dst) = Seq(values...)
	return nil
}

func (l *valueList) readImage(c *Call, image []byte, n uint32, dst unsafe.Pointer) error {
	if err := c.spend(uint64(len(image)) + 16); err != nil {
		return err
	}
	own := append([]byte(nil), image...)
	quietImage(l.kind, own)
	*(*Value)(dst) = Image(own, int(n))
	return nil
}

func (l *valueList) write(c *Call, src unsafe.Pointer) (ptr, n uint32, err error) {
	v := (*Value)(src)
	if v.shape == shapeImage && l.bulk {
		return l.writeImage(c, v)
	}
	if err := v.expect(shapeSeq, "list"); err != nil {
		return 0, 0, err
	}
	values := v.seq()
	if ptr, err = c.allocList(len(values), l.size, l.align); err != nil {
		return 0, 0, err
	}
	for i := range values {
		if err := l.elem.store(c, ptr+uint32(i)*l.size, unsafe.Pointer(&values[i])); err != nil {
			return 0, 0, err
		}
	}
	return ptr, uint32(len(values)), nil
}

func (l *valueList) writeImage(c *Call, v *Value) (ptr, n uint32, err error) {
	image := v.image()
	if uint64(v.Len())*uint64(l.size) != uint64(len(image)) {
		return 0, 0, fmt.Errorf("cannot pass %d bytes to a guest as %d numbers of %d", len(image), v.Len(), l.size)
	}
	if ptr, err = c.allocList(v.Len(), l.size, l.align); err != nil {
		return 0, 0, err
	}
	quietImage(l.kind, c.mem[ptr:][:copy(c.mem[ptr:], image)])
	return ptr, uint32(v.Len()), nil
}

func (l *valueList) load(c *Call, p uint32, dst unsafe.Pointer) error {
	ptr, n := c.loadPair(p)
	return l.read(c, ptr, n, dst)
}

func (l *valueList) store(c *Call, p uint32, src unsafe.Pointer) error {
	ptr, n, err := l.write(c, src)
	if err == nil {
		c.storePair(p, ptr, n)
	}
	return err
}

func (l *valueList) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	return l.read(c, uint32(lanes[0]), uint32(lanes[1]), dst)
}

func (l *valueList) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	ptr, n, err := l.write(c, src)
	lanes[0], lanes[1] = uint64(ptr), uint64(n)
	return err
}
