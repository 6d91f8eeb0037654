package canon

import (
	"fmt"
	"reflect"
	"unsafe"
)

// A variantCodec is a variant as a Go struct with one field a case, in order: a
// bool for a case without a payload, a pointer for one with. Exactly one is set.
type variantCodec struct {
	arms    []arm
	disc    uint32
	payload uint32
	lanes   int
	name    string
}

// An arm is one case of a variant.
type arm struct {
	goOff uintptr
	// codec is nil for a case without a payload.
	codec codec
	box   box
	lanes int
}

func (k *compiler) variant(t *Type, g reflect.Type) (codec, error) {
	if g.Kind() != reflect.Struct || !g.Implements(variantType) {
		return nil, k.errorf("a Go %s cannot hold WIT %s: it is no struct with a method WITVariant", g, t)
	}
	fields := fieldsOf(g)
	if len(fields) != len(t.cases) {
		return nil, k.errorf("a Go %s of %d cases cannot hold a WIT variant of %d", g, len(fields), len(t.cases))
	}
	v := &variantCodec{
		arms:    make([]arm, len(fields)),
		disc:    t.layout.disc,
		payload: t.layout.payload,
		lanes:   len(t.layout.flat.types),
		name:    g.String(),
	}
	for i, f := range fields {
		if name := witName(f); name != t.cases[i].Name {
			return nil, k.errorf("case %d of Go %s is %q, of the WIT variant %q", i, g, name, t.cases[i].Name)
		}
		a, err := k.arm(t.cases[i], f)
		if err != nil {
			return nil, err
		}
		v.arms[i] = a
	}
	return v, nil
}

func (k *compiler) arm(want Case, f reflect.StructField) (arm, error) {
	a := arm{goOff: f.Offset}
	switch {
	case want.Type == nil && f.Type.Kind() == reflect.Bool:
		return a, nil
	case want.Type == nil:
		return a, k.errorf("case %s has no payload, its Go field must be a bool, not a %s", want.Name, f.Type)
	case f.Type.Kind() != reflect.Pointer:
		return a, k.errorf("case %s has a payload, its Go field must be a pointer, not a %s", want.Name, f.Type)
	}
	c, err := k.in(want.Name, want.Type, f.Type.Elem())
	a.codec, a.box, a.lanes = c, boxOf(f.Type.Elem()), len(want.Type.layout.flat.types)
	return a, err
}

// chosen finds the case that is set.
func (v *variantCodec) chosen(src unsafe.Pointer) (uint32, *arm, error) {
	found := -1
	for i := range v.arms {
		if !v.arms[i].isSet(src) {
			continue
		}
		if found >= 0 {
			return 0, nil, fmt.Errorf("cannot pass a %s to a guest: more than one case is set", v.name)
		}
		found = i
	}
	if found < 0 {
		return 0, nil, fmt.Errorf("cannot pass a %s to a guest: no case is set", v.name)
	}
	return uint32(found), &v.arms[found], nil
}

func (a *arm) isSet(src unsafe.Pointer) bool {
	p := unsafe.Add(src, a.goOff)
	if a.codec == nil {
		return *(*bool)(p)
	}
	return *(*unsafe.Pointer)(p) != nil
}

// open sets the case with discriminant n, and returns where its payload goes, or
// nil if it has none.
func (v *variantCodec) open(c *Call, n uint32, dst unsafe.Pointer) (*arm, unsafe.Pointer, error) {
	if err := c.discriminant(n, len(v.arms)); err != nil {
		return nil, nil, err
	}
	a := &v.arms[n]
	p := unsafe.Add(dst, a.goOff)
	if a.codec == nil {
		*(*bool)(p) = true
		return a, nil, nil
	}
	to, err := a.box.fill(c, p)
	return a, to, err
}

func (v *variantCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	a, to, err := v.open(c, c.loadUint(p, v.disc), dst)
	if err != nil || to == nil {
		return err
	}
	return a.codec.load(c, p+v.payload, to)
}

func (v *variantCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	a, to, err := v.open(c, uint32(lanes[0]), dst)
	if err != nil || to == nil {
		return err
	}
	return a.codec.lift(c, lanes[1:1+a.lanes], to)
}

func (v *variantCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	n, a, err := v.chosen(src)
	if err != nil {
		return err
	}
	c.storeUint(p, v.disc, n)
	if a.codec == nil {
		return nil
	}
	return a.codec.store(c, p+v.payload, *(*unsafe.Pointer)(unsafe.Add(src, a.goOff)))
}

func (v *variantCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	n, a, err := v.chosen(src)
	if err != nil {
		return err
	}
	clear(lanes[:v.lanes])
	lanes[0] = uint64(n)
	if a.codec == nil {
		return nil
	}
	return a.codec.lower(c, lanes[1:1+a.lanes], *(*unsafe.Pointer)(unsafe.Add(src, a.goOff)))
}
