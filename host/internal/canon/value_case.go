package canon

import (
	"fmt"
	"unsafe"
)

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
