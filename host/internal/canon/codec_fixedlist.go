package canon

import (
	"reflect"
	"unsafe"
)

func (k *compiler) fixedList(t *Type, g reflect.Type) (codec, error) {
	if g.Kind() != reflect.Array || uint64(g.Len()) != uint64(t.length) {
		return nil, k.mismatch(t, g)
	}
	elem, err := k.in("element", t.elem, g.Elem())
	if err != nil {
		return nil, err
	}
	return &fixedListCodec{
		elem:   elem,
		n:      t.length,
		size:   uint32(t.elem.Size()),
		lanes:  len(t.elem.layout.flat.types),
		goSize: g.Elem().Size(),
	}, nil
}

type fixedListCodec struct {
	elem   codec
	n      uint32
	size   uint32
	lanes  int
	goSize uintptr
}

func (l *fixedListCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	for i := range l.n {
		if err := l.elem.load(c, p+i*l.size, unsafe.Add(dst, uintptr(i)*l.goSize)); err != nil {
			return err
		}
	}
	return nil
}

func (l *fixedListCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	for i := range l.n {
		if err := l.elem.store(c, p+i*l.size, unsafe.Add(src, uintptr(i)*l.goSize)); err != nil {
			return err
		}
	}
	return nil
}

func (l *fixedListCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	for i := range int(l.n) {
		if err := l.elem.lift(c, lanes[i*l.lanes:][:l.lanes], unsafe.Add(dst, uintptr(i)*l.goSize)); err != nil {
			return err
		}
	}
	return nil
}

func (l *fixedListCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	for i := range int(l.n) {
		if err := l.elem.lower(c, lanes[i*l.lanes:][:l.lanes], unsafe.Add(src, uintptr(i)*l.goSize)); err != nil {
			return err
		}
	}
	return nil
}
