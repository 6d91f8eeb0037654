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
