package canon

import (
	"reflect"
	"unsafe"
)

// A resultCodec is a result as a Result. The codec of a side that carries
// nothing is nil.
type resultCodec struct {
	isErr   uintptr
	sides   [2]side
	payload uint32
	lanes   int
}

type side struct {
	codec codec
	goOff uintptr
	lanes int
}

func (k *compiler) result(t *Type, g reflect.Type) (codec, error) {
	if g.Kind() != reflect.Struct || !g.Implements(resultType) {
		return nil, k.mismatch(t, g)
	}
	r := &resultCodec{isErr: g.Field(0).Offset, payload: t.layout.payload, lanes: len(t.layout.flat.types)}
	for i, want := range t.cases {
		s, err := k.side(want, g.Field(1+i))
		if err != nil {
			return nil, err
		}
		r.sides[i] = s
	}
	return r, nil
}

func (k *compiler) side(want Case, f reflect.StructField) (side, error) {
	s := side{goOff: f.Offset}
	if (want.Type == nil) != (f.Type == unitType) {
		return s, k.errorf("%s of a Go %s does not match what WIT's carries", want.Name, f.Type)
	}
	if want.Type == nil {
		return s, nil
	}
	c, err := k.in(want.Name, want.Type, f.Type)
	s.codec, s.lanes = c, len(want.Type.layout.flat.types)
	return s, err
}

// open notes which side n is, and returns it.
func (r *resultCodec) open(c *Call, n uint32, dst unsafe.Pointer) (*side, error) {
	if err := c.discriminant(n, 2); err != nil {
		return nil, err
	}
	*(*bool)(unsafe.Add(dst, r.isErr)) = n == 1
	return &r.sides[n], nil
}

func (r *resultCodec) chosen(src unsafe.Pointer) (uint32, *side) {
	n := uint32(bit(*(*bool)(unsafe.Add(src, r.isErr))))
	return n, &r.sides[n]
}

func (r *resultCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	s, err := r.open(c, uint32(c.mem[p]), dst)
	if err != nil || s.codec == nil {
		return err
	}
	return s.codec.load(c, p+r.payload, unsafe.Add(dst, s.goOff))
}

func (r *resultCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	s, err := r.open(c, uint32(lanes[0]), dst)
	if err != nil || s.codec == nil {
		return err
	}
	return s.codec.lift(c, lanes[1:1+s.lanes], unsafe.Add(dst, s.goOff))
}

func (r *resultCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	n, s := r.chosen(src)
	c.mem[p] = byte(n)
	if s.codec == nil {
		return nil
	}
	return s.codec.store(c, p+r.payload, unsafe.Add(src, s.goOff))
}

func (r *resultCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	n, s := r.chosen(src)
	clear(lanes[:r.lanes])
	lanes[0] = uint64(n)
	if s.codec == nil {
		return nil
	}
	return s.codec.lower(c, lanes[1:1+s.lanes], unsafe.Add(src, s.goOff))
}
