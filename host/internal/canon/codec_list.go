package canon

import (
	"reflect"
	"unsafe"
)

// A sliceHeader is how Go lays a slice out; the pointer is typed, so that the
// collector sees it.
type sliceHeader struct {
	p        unsafe.Pointer
	len, cap int
}

func (k *compiler) list(t *Type, g reflect.Type) (codec, error) {
	if g.Kind() != reflect.Slice {
		return nil, k.mismatch(t, g)
	}
	elem, err := k.in("element", t.elem, g.Elem())
	if err != nil {
		return nil, err
	}
	l := &listCodec{
		elem:   elem,
		size:   uint32(t.elem.Size()),
		align:  t.elem.Align(),
		goSize: g.Elem().Size(),
		alloc:  allocatorOf(g.Elem()),
		kind:   t.elem.kind,
		bulk:   isBulk(t.elem.kind),
	}
	return l, nil
}

type listCodec struct {
	elem   codec
	size   uint32 // of an element, in guest memory
	align  uint32
	goSize uintptr
	alloc  allocator
	kind   Kind
	bulk   bool
}

func (l *listCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	ptr, n := c.loadPair(p)
	return l.read(c, ptr, n, dst)
}

func (l *listCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	return l.read(c, uint32(lanes[0]), uint32(lanes[1]), dst)
}

func (l *listCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	ptr, n, err := l.write(c, src)
	if err != nil {
		return err
	}
	c.storePair(p, ptr, n)
	return nil
}

func (l *listCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	ptr, n, err := l.write(c, src)
	lanes[0], lanes[1] = uint64(ptr), uint64(n)
	return err
}

func (l *listCodec) read(c *Call, ptr, n uint32, dst unsafe.Pointer) error {
	if err := c.listArea(ptr, n, l.size, l.align); err != nil {
		return err
	}
	if n == 0 {
		*(*sliceHeader)(dst) = sliceHeader{}
		return nil
	}
	if err := c.spend(uint64(n) * uint64(l.goSize)); err != nil {
		return err
	}
	if l.bulk {
		*(*sliceHeader)(dst) = l.readBulk(c.mem[ptr:uint64(ptr)+uint64(n)*uint64(l.size)], int(n))
		return nil
	}
	to := l.alloc(int(n))
	*(*sliceHeader)(dst) = sliceHeader{to, int(n), int(n)}
	for i := range n {
		if err := l.elem.load(c, ptr+i*l.size, unsafe.Add(to, uintptr(i)*l.goSize)); err != nil {
			return err
		}
	}
	return nil
}

// readBulk copies an image of n numbers.
func (l *listCodec) readBulk(image []byte, n int) sliceHeader {
	if l.size == 1 {
		// append, unlike make, does not clear what is overwritten at once.
		b := append([]byte(nil), image...)
		return sliceHeader{unsafe.Pointer(unsafe.SliceData(b)), n, n}
	}
	to := l.alloc(n)
	own := unsafe.Slice((*byte)(to), len(image))
	copy(own, image)
	quietImage(l.kind, own)
	return sliceHeader{to, n, n}
}

func (l *listCodec) write(c *Call, src unsafe.Pointer) (ptr, n uint32, err error) {
	from := (*sliceHeader)(src)
	ptr, err = c.allocList(from.len, l.size, l.align)
	if err != nil {
		return 0, 0, err
	}
	if l.bulk {
		n := copy(c.mem[ptr:], unsafe.Slice((*byte)(from.p), uintptr(from.len)*l.goSize))
		quietImage(l.kind, c.mem[ptr:][:n])
		return ptr, uint32(from.len), nil
	}
	for i := range from.len {
		if err := l.elem.store(c, ptr+uint32(i)*l.size, unsafe.Add(from.p, uintptr(i)*l.goSize)); err != nil {
			return 0, 0, err
		}
	}
	return ptr, uint32(from.len), nil
}

// listArea checks the memory of n elements.
func (c *Call) listArea(ptr, n, size, align uint32) error {
	bytes := uint64(n) * uint64(size)
	if err := c.check(ptr, align, bytes, c.say(areaList, fusedList)); err != nil {
		return err
	}
	if bytes > uint64(c.inst.limits.ValueBytes) {
		return trapf(textTooLong, "a list", bytes, c.inst.limits.ValueBytes)
	}
	return nil
}

// allocList takes guest memory for n elements.
func (c *Call) allocList(n int, size, align uint32) (uint32, error) {
	bytes := uint64(n) * uint64(size)
	if bytes > uint64(c.inst.limits.ValueBytes) {
		return 0, trapf(textTooLong, "a list", bytes, c.inst.limits.ValueBytes)
	}
	return c.realloc(0, 0, align, uint32(bytes), c.say(areaRealloc, fusedList))
}
