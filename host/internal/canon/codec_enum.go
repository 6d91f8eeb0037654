package canon

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"unsafe"
)

// loadUint reads an unsigned number of 1, 2 or 4 bytes from guest memory.
func (c *Call) loadUint(p, size uint32) uint32 {
	switch size {
	case 1:
		return uint32(c.mem[p])
	case 2:
		return uint32(binary.LittleEndian.Uint16(c.mem[p:]))
	default:
		return binary.LittleEndian.Uint32(c.mem[p:])
	}
}

// storeUint writes an unsigned number of 1, 2 or 4 bytes to guest memory.
func (c *Call) storeUint(p, size, n uint32) {
	switch size {
	case 1:
		c.mem[p] = byte(n)
	case 2:
		binary.LittleEndian.PutUint16(c.mem[p:], uint16(n))
	default:
		binary.LittleEndian.PutUint32(c.mem[p:], n)
	}
}

// discriminant checks that n is one of the cases.
func (c *Call) discriminant(n uint32, cases int) error {
	switch {
	case uint64(n) < uint64(cases):
		return nil
	case c.b.Fused:
		return trapf(textFusedDiscriminant)
	default:
		return trapf(textDiscriminant, n, cases)
	}
}

// A goUint is an unsigned Go integer of 1, 2 or 4 bytes.
type goUint struct{ size uintptr }

func goUintOf(g reflect.Type) (goUint, bool) {
	switch g.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return goUint{g.Size()}, true
	default:
		return goUint{}, false
	}
}

func (u goUint) get(p unsafe.Pointer) uint32 {
	switch u.size {
	case 1:
		return uint32(*(*uint8)(p))
	case 2:
		return uint32(*(*uint16)(p))
	default:
		return *(*uint32)(p)
	}
}

func (u goUint) put(p unsafe.Pointer, n uint32) {
	switch u.size {
	case 1:
		*(*uint8)(p) = uint8(n)
	case 2:
		*(*uint16)(p) = uint16(n)
	default:
		*(*uint32)(p) = n
	}
}

func (k *compiler) enum(t *Type, g reflect.Type) (codec, error) {
	u, ok := goUintOf(g)
	if !ok || uint64(len(t.cases)-1)>>(8*u.size) != 0 {
		return nil, k.mismatch(t, g)
	}
	if err := k.sameLabels(t, g); err != nil {
		return nil, err
	}
	return &enumCodec{cases: len(t.cases), size: t.layout.disc, uint: u, name: g.String()}, nil
}

// sameLabels checks the names of an enum or of flags, if the Go type has any.
func (k *compiler) sameLabels(t *Type, g reflect.Type) error {
	kind, labels := labelsOf(g)
	switch {
	case labels == nil:
		return nil
	case kind != t.kind:
		return k.mismatch(t, g)
	case len(labels) != len(t.labels):
		return k.errorf("a Go %s has %d names, the WIT %s %d", g, len(labels), t.kind, len(t.labels))
	}
	for i, l := range labels {
		if l != t.labels[i] {
			return k.errorf("name %d of Go %s is %q, of the WIT %s %q", i, g, l, t.kind, t.labels[i])
		}
	}
	return nil
}

// An enumCodec is an enum, as an unsigned integer.
type enumCodec struct {
	cases int
	size  uint32
	uint  goUint
	name  string
}

func (e *enumCodec) put(c *Call, n uint32, dst unsafe.Pointer) error {
	if err := c.discriminant(n, e.cases); err != nil {
		return err
	}
	e.uint.put(dst, n)
	return nil
}

func (e *enumCodec) get(src unsafe.Pointer) (uint32, error) {
	n := e.uint.get(src)
	if uint64(n) >= uint64(e.cases) {
		return 0, fmt.Errorf("cannot pass %s(%d) to a guest: there are %d cases", e.name, n, e.cases)
	}
	return n, nil
}

func (e *enumCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	return e.put(c, c.loadUint(p, e.size), dst)
}

func (e *enumCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	n, err := e.get(src)
	c.storeUint(p, e.size, n)
	return err
}

func (e *enumCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	return e.put(c, uint32(lanes[0]), dst)
}

func (e *enumCodec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	n, err := e.get(src)
	lanes[0] = uint64(n)
	return err
}

func (k *compiler) flags(t *Type, g reflect.Type) (codec, error) {
	u, ok := goUintOf(g)
	if !ok || u.size*8 < uintptr(len(t.labels)) || len(t.labels) > 32 {
		return nil, k.mismatch(t, g)
	}
	if err := k.sameLabels(t, g); err != nil {
		return nil, err
	}
	return &flagsCodec{size: uint32(t.Size()), uint: u, mask: flagsMask(len(t.labels))}, nil
}

// flagsMask has the bits of n flags; the others are ignored, as the spec says.
func flagsMask(n int) uint32 { return uint32(uint64(1)<<n - 1) }

// A flagsCodec is flags, as an unsigned integer.
type flagsCodec struct {
	size uint32
	uint goUint
	mask uint32
}

func (f *flagsCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	f.uint.put(dst, c.loadUint(p, f.size)&f.mask)
	return nil
}

func (f *flagsCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	c.storeUint(p, f.size, f.uint.get(src)&f.mask)
	return nil
}

func (f *flagsCodec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	f.uint.put(dst, uint32(lanes[0])&f.mask)
	return nil
}

func (f *flagsCodec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(f.uint.get(src) & f.mask)
	return nil
}
