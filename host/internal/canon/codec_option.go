package canon

import (
	"reflect"
	"unsafe"
)

// option makes the codec of option<T>: a *T, or an Option[T].
func (k *compiler) option(t *Type, g reflect.Type) (codec, error) {
	switch {
	case g.Kind() == reflect.Pointer:
		elem, err := k.in("some", t.elem, g.Elem())
		if err != nil {
			return nil, err
		}
		return &pointerCodec{newCased(t, elem), boxOf(g.Elem())}, nil
	case g.Implements(optionType):
		some, value := g.Field(0), g.Field(1)
		elem, err := k.in("some", t.elem, value.Type)
		if err != nil {
			return nil, err
		}
		return &optionCodec{newCased(t, elem), some.Offset, value.Offset}, nil
	default:
		return nil, k.mismatch(t, g)
	}
}

// A cased is what the codecs of options share: the payload is one type, and
// there or not.
type cased struct {
	elem    codec
	payload uint32
	lanes   int
}

func newCased(t *Type, elem codec) cased {
	return cased{elem: elem, payload: t.layout.payload, lanes: 1 + len(t.elem.layout.flat.types)}
}

func (o *cased) storeSome(c *Call, p uint32, src unsafe.Pointer) error {
	c.mem[p] = 1
	return o.elem.store(c, p+o.payload, src)
}

func (o *cased) lowerSome(c *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = 1
	return o.elem.lower(c, lanes[1:o.lanes], src)
}

// A pointerCodec is an option as a pointer, nil for none.
type pointerCodec struct {
	cased
	box box
}

func (o *pointerCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	n := uint32(c.mem[p])
	if err := c.discriminant(n, 2); err != nil || n == 0 {
		return err
	}
	to, err := o.box.fill(c, dst)
	if err != nil {
		return err
	}
	return o.elem.load(c, p+o.payload, to)
}

func (o *pointerCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	if from := *(*unsafe.Pointer)(src); from != nil {
		return o.storeSome(c, p, from)
	}
	c.mem[p] = 0
	return nil
}

func (o *pointerCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	n := uint32(lanes[0])
	if err := c.discriminant(n, 2); err != nil || n == 0 {
		return err
	}
	to, err := o.box.fill(c, dst)
	if err != nil {
		return err
	}
	return o.elem.lift(c, lanes[1:o.lanes], to)
}

func (o *pointerCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	if from := *(*unsafe.Pointer)(src); from != nil {
		return o.lowerSome(c, lanes, from)
	}
	clear(lanes[:o.lanes])
	return nil
}

// An optionCodec is an option as an Option.
type optionCodec struct {
	cased
	some, value uintptr
}

func (o *optionCodec) isSome(p unsafe.Pointer) *bool { return (*bool)(unsafe.Add(p, o.some)) }

func (o *optionCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	n := uint32(c.mem[p])
	if err := c.discriminant(n, 2); err != nil || n == 0 {
		return err
	}
	*o.isSome(dst) = true
	return o.elem.load(c, p+o.payload, unsafe.Add(dst, o.value))
}

func (o *optionCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	if *o.isSome(src) {
		return o.storeSome(c, p, unsafe.Add(src, o.value))
	}
	c.mem[p] = 0
	return nil
}

func (o *optionCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	n := uint32(lanes[0])
	if err := c.discriminant(n, 2); err != nil || n == 0 {
		return err
	}
	*o.isSome(dst) = true
	return o.elem.lift(c, lanes[1:o.lanes], unsafe.Add(dst, o.value))
}

func (o *optionCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	if *o.isSome(src) {
		return o.lowerSome(c, lanes, unsafe.Add(src, o.value))
	}
	clear(lanes[:o.lanes])
	return nil
}
