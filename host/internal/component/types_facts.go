package component

import "fmt"

// settle computes the facts of a new type from its parts and checks limits.
func (d *valueDef) settle() error {
	d.facts = facts{depth: 1, size: 1}
	d.eachPart(func(v *valType) {
		p := v.facts()
		d.depth = max(d.depth, p.depth+1)
		d.size += p.size
		d.borrow = d.borrow || p.borrow
		d.resources = d.resources || p.resources
	})
	switch d.kind {
	case kindBorrow:
		d.borrow, d.resources = true, true
	case kindOwn:
		d.resources = true
	}
	d.size += len(d.labels)
	if err := checkMeasure(d.size, d.depth); err != nil {
		return err
	}
	d.bytes, d.align = d.layout()
	if d.bytes >= maxValueBytes {
		return fmt.Errorf("type exceeds maximum byte size of %d", maxValueBytes)
	}
	return nil
}

// eachPart calls f for every type that d is made of.
func (d *valueDef) eachPart(f func(*valType)) {
	for i := range d.fields {
		if d.fields[i].typ != nil {
			f(d.fields[i].typ)
		}
	}
	for i := range d.elems {
		f(&d.elems[i])
	}
	if d.elem != nil {
		f(d.elem)
	}
	if d.other != nil {
		f(d.other)
	}
}

func (v *valType) facts() facts {
	if v.def != nil {
		return v.def.facts
	}
	n := primBytes(v.prim)
	if v.prim == kindString {
		return facts{depth: 1, size: 1, bytes: 16, align: 8}
	}
	return facts{depth: 1, size: 1, bytes: n, align: n}
}

func primBytes(k kind) uint64 {
	switch k {
	case kindBool, kindS8, kindU8:
		return 1
	case kindS16, kindU16:
		return 2
	case kindS64, kindU64, kindF64:
		return 8
	}
	return 4
}

// layout gives size and alignment in memory with 64-bit pointers
// (CanonicalABI.md, element size), which is what the limit is put on.
func (d *valueDef) layout() (size, align uint64) {
	switch d.kind {
	case kindRecord:
		return layoutFields(len(d.fields), func(i int) *valType { return d.fields[i].typ })
	case kindTuple:
		return layoutFields(len(d.elems), func(i int) *valType { return &d.elems[i] })
	case kindVariant:
		return layoutCases(len(d.fields), func(i int) *valType { return d.fields[i].typ })
	case kindOption, kindResult:
		pair := [2]*valType{d.elem, d.other}
		return layoutCases(2, func(i int) *valType { return pair[i] })
	case kindEnum:
		return layoutCases(len(d.labels), func(int) *valType { return nil })
	case kindFlags:
		return flagBytes(len(d.labels)), flagBytes(len(d.labels))
	case kindFixedList:
		p := d.elem.facts()
		return p.bytes * uint64(d.length), p.align // below 2^28 * 2^32
	case kindList, kindMap, kindString:
		return 16, 8
	}
	n := primBytes(d.kind)
	return n, n
}

func layoutFields(n int, at func(int) *valType) (size, align uint64) {
	align = 1
	for i := range n {
		p := at(i).facts()
		size = alignUp(size, p.align) + p.bytes
		align = max(align, p.align)
	}
	return alignUp(size, align), align
}

func layoutCases(n int, at func(int) *valType) (size, align uint64) {
	disc := uint64(1)
	if n > 1<<8 {
		disc = 2
	}
	if n > 1<<16 {
		disc = 4
	}
	align = disc
	var payload uint64
	for i := range n {
		if t := at(i); t != nil {
			p := t.facts()
			payload = max(payload, p.bytes)
			align = max(align, p.align)
		}
	}
	return alignUp(alignUp(disc, align)+payload, align), align
}

func alignUp(n, align uint64) uint64 { return (n + align - 1) / align * align }

func flagBytes(n int) uint64 {
	switch {
	case n <= 8:
		return 1
	case n <= 16:
		return 2
	}
	return 4
}
