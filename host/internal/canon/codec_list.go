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
		bulk:   bulkOf(t.elem.kind),
	}
	return l, nil
}

// A bulk says how the elements of a list can be copied all at once.
type bulk uint8

const (
	bulkNone bulk = iota
	bulkPlain
	// Floats are copied, and then looked through for NaNs.
	bulkF32
	bulkF64
)

func bulkOf(k Kind) bulk {
	if !littleEndian && k != KindU8 && k != KindS8 {
		return bulkNone
	}
	switch k {
	case KindU8, KindS8, KindU16, KindS16, KindU32, KindS32, KindU64, KindS64:
		return bulkPlain
	case KindF32:
		return bulkF32
	case KindF64:
		return bulkF64
	default:
		return bulkNone
	}
}

// quiet makes every NaN in an image of numbers the canonical one.
func (b bulk) quiet(p unsafe.Pointer, n int) {
	switch b {
	case bulkF32:
		for i, bits := range unsafe.Slice((*uint32)(p), n) {
			unsafe.Slice((*uint32)(p), n)[i] = quiet32(bits)
		}
	case bulkF64:
		for i, bits := range unsafe.Slice((*uint64)(p), n) {
			unsafe.Slice((*uint64)(p), n)[i] = quiet64(bits)
		}
	}
}

type listCodec struct {
	elem   codec
	size   uint32 // of an element, in guest memory
	align  uint32
	goSize uintptr
	alloc  allocator
	bulk   bulk
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
	if l.bulk != bulkNone {
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
	copy(unsafe.Slice((*byte)(to), len(image)), image)
	l.bulk.quiet(to, n)
	return sliceHeader{to, n, n}
}

func (l *listCodec) write(c *Call, src unsafe.Pointer) (ptr, n uint32, err error) {
	from := (*sliceHeader)(src)
	ptr, err = c.allocList(from.len, l.size, l.align)
	if err != nil {
		return 0, 0, err
	}
	if l.bulk != bulkNone {
		l.writeBulk(c, ptr, from)
		return ptr, uint32(from.len), nil
	}
	for i := range from.len {
		if err := l.elem.store(c, ptr+uint32(i)*l.size, unsafe.Add(from.p, uintptr(i)*l.goSize)); err != nil {
			return 0, 0, err
		}
	}
	return ptr, uint32(from.len), nil
}

func (l *listCodec) writeBulk(c *Call, ptr uint32, from *sliceHeader) {
	if l.bulk != bulkPlain {
		// NaNs are made canonical one by one, as guest memory need not be
		// aligned for Go's floats.
		for i := range from.len {
			_ = l.elem.store(c, ptr+uint32(i)*l.size, unsafe.Add(from.p, uintptr(i)*l.goSize))
		}
		return
	}
	copy(c.mem[ptr:], unsafe.Slice((*byte)(from.p), uintptr(from.len)*l.goSize))
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
