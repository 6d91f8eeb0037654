package canon

import (
	"encoding/binary"
	"math"
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

// isBulk tells whether a list of numbers of kind k in Go is, byte for byte, what
// it is in guest memory.
func isBulk(k Kind) bool {
	return isNumber(k) && (littleEndian || scalarSize(k) == 1)
}

// isNumber tells whether every pattern of bits is a value of kind k, NaNs aside.
func isNumber(k Kind) bool { return k >= KindS8 && k <= KindF64 }

// quietImage makes every NaN in an image of numbers of kind k the canonical one.
func quietImage(k Kind, image []byte) {
	switch k {
	case KindF32:
		for ; len(image) >= 4; image = image[4:] {
			if f := math.Float32frombits(binary.LittleEndian.Uint32(image)); f != f {
				binary.LittleEndian.PutUint32(image, nan32)
			}
		}
	case KindF64:
		for ; len(image) >= 8; image = image[8:] {
			if f := math.Float64frombits(binary.LittleEndian.Uint64(image)); f != f {
				binary.LittleEndian.PutUint64(image, nan64)
			}
		}
	}
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
