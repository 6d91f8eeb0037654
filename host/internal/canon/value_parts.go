package canon

import (
	"fmt"
	"unsafe"
)

// newValues makes n values, and spends what they take.
func (c *Call) newValues(n uint64) ([]Value, error) {
	if err := c.spend(n*uint64(valueSize) + 16); err != nil {
		return nil, err
	}
	return make([]Value, n), nil
}

// A valueSeq is a record, tuple or fixed-length list: as many values as the type
// says, in a row, carried by the codec of the parts.
type valueSeq struct {
	n     int
	parts codec
}

func (k *compiler) valueRecord(t *Type) (codec, error) {
	r := &recordCodec{slots: make([]slot, len(t.fields))}
	lane := 0
	for i, f := range t.fields {
		c, err := k.in(f.Name, f.Type, valueType)
		if err != nil {
			return nil, err
		}
		n := len(f.Type.layout.flat.types)
		r.slots[i] = slot{codec: c, goOff: uintptr(i) * valueSize, memOff: t.layout.offsets[i], lane: lane, lanes: n}
		lane += n
	}
	return &valueSeq{n: len(t.fields), parts: r}, nil
}

func (s *valueSeq) open(c *Call, dst unsafe.Pointer) (unsafe.Pointer, error) {
	values, err := c.newValues(uint64(s.n))
	*(*Value)(dst) = Seq(values...)
	return (*Value)(dst).p, err
}

func (s *valueSeq) parted(src unsafe.Pointer) (unsafe.Pointer, error) {
	v := (*Value)(src)
	if err := v.expect(shapeSeq, "sequence"); err != nil {
		return nil, err
	}
	if v.n != uint64(s.n) {
		return nil, fmt.Errorf("cannot pass %d values to a guest where there are %d", v.n, s.n)
	}
	return v.p, nil
}

func (s *valueSeq) load(c *Call, p uint32, dst unsafe.Pointer) error {
	to, err := s.open(c, dst)
	if err != nil {
		return err
	}
	return s.parts.load(c, p, to)
}

func (s *valueSeq) store(c *Call, p uint32, src unsafe.Pointer) error {
	from, err := s.parted(src)
	if err != nil {
		return err
	}
	return s.parts.store(c, p, from)
}

func (s *valueSeq) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	to, err := s.open(c, dst)
	if err != nil {
		return err
	}
	return s.parts.lift(c, lanes, to)
}

func (s *valueSeq) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	from, err := s.parted(src)
	if err != nil {
		return err
	}
	return s.parts.lower(c, lanes, from)
}

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

// A valueCase is a variant, option or result.
type valueCase struct {
	// arms are the codecs of the payloads, nil for a case without one.
	arms    []codec
	widths  []int
	disc    uint32
	payload uint32
	lanes   int
}

func (k *compiler) valueCase(t *Type) (codec, error) {
	v := &valueCase{
		arms:    make([]codec, len(t.cases)),
		widths:  make([]int, len(t.cases)),
		disc:    t.layout.disc,
		payload: t.layout.payload,
		lanes:   len(t.layout.flat.types),
	}
	for i, cs := range t.cases {
		if cs.Type == nil {
			continue
		}
		c, err := k.in(cs.Name, cs.Type, valueType)
		if err != nil {
			return nil, err
		}
		v.arms[i], v.widths[i] = c, len(cs.Type.layout.flat.types)
	}
	return v, nil
}

// open checks the discriminant, and makes room for the payload if there is one.
func (v *valueCase) open(c *Call, n uint32, dst unsafe.Pointer) (codec, unsafe.Pointer, error) {
	if err := c.discriminant(n, len(v.arms)); err != nil {
		return nil, nil, err
	}
	arm := v.arms[n]
	if arm == nil {
		*(*Value)(dst) = Cased(n, nil)
		return nil, nil, nil
	}
	room, err := c.newValues(1)
	if err != nil {
		return nil, nil, err
	}
	*(*Value)(dst) = Cased(n, &room[0])
	return arm, unsafe.Pointer(&room[0]), nil
}

// chosen checks the case of a Value that Go made.
func (v *valueCase) chosen(src unsafe.Pointer) (uint32, codec, error) {
	val := (*Value)(src)
	if err := val.expect(shapeCase, "variant"); err != nil {
		return 0, nil, err
	}
	if val.n >= uint64(len(v.arms)) || (v.arms[val.n] == nil) != (val.p == nil) {
		return 0, nil, fmt.Errorf("cannot pass case %d of %d to a guest: it has no such payload", val.n, len(v.arms))
	}
	return uint32(val.n), v.arms[val.n], nil
}

func (v *valueCase) load(c *Call, p uint32, dst unsafe.Pointer) error {
	arm, to, err := v.open(c, c.loadUint(p, v.disc), dst)
	if err != nil || arm == nil {
		return err
	}
	return arm.load(c, p+v.payload, to)
}

func (v *valueCase) store(c *Call, p uint32, src unsafe.Pointer) error {
	n, arm, err := v.chosen(src)
	if err != nil {
		return err
	}
	c.storeUint(p, v.disc, n)
	if arm == nil {
		return nil
	}
	return arm.store(c, p+v.payload, (*Value)(src).p)
}

func (v *valueCase) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	arm, to, err := v.open(c, uint32(lanes[0]), dst)
	if err != nil || arm == nil {
		return err
	}
	return arm.lift(c, lanes[1:1+v.widths[uint32(lanes[0])]], to)
}

func (v *valueCase) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	n, arm, err := v.chosen(src)
	if err != nil {
		return err
	}
	clear(lanes[:v.lanes])
	lanes[0] = uint64(n)
	if arm == nil {
		return nil
	}
	return arm.lower(c, lanes[1:1+v.widths[n]], (*Value)(src).p)
}
