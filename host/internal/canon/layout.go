package canon

import "github.com/tetratelabs/wazero/api"

const (
	// MaxFlatParams is how many core values parameters may take; more travel
	// in memory.
	MaxFlatParams = 16
	// MaxFlatResults is how many core values a result may take.
	MaxFlatResults = 1
	// MaxValueSize bounds what a value takes in memory without the contents of
	// its strings and lists, in bytes.
	MaxValueSize = 1<<28 - 1

	ptrSize = 4
)

// A CoreType is a core WebAssembly value type, in wazero's encoding.
type CoreType = api.ValueType

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
	f32 = api.ValueTypeF32
	f64 = api.ValueTypeF64
)

// A layout is how values of a type lie in memory and on the core stack.
type layout struct {
	size  uint64 // bytes, saturating
	align uint32
	// disc is the width of the discriminant and payload where the case's value
	// begins, for the kinds that have cases.
	disc    uint32
	payload uint32
	// offsets are those of the fields of a record or tuple.
	offsets []uint32
	flat    flat
	// memory tells whether a part of a value is behind a pointer.
	memory bool
	// borrow tells whether a part of a value is a borrow.
	borrow bool
}

// A flat is a list of core types, or the knowledge that it is longer than
// MaxFlatParams, in which case the types themselves never matter.
type flat struct {
	types []CoreType
	long  bool
}

// Size is how many bytes a value of type t takes in memory. A size beyond what
// fits 64 bits is reported as the largest number.
func (t *Type) Size() uint64 { return t.layout.size }

// Align is the alignment of t in memory: 1, 2, 4 or 8.
func (t *Type) Align() uint32 { return t.layout.align }

// Flat is the list of core types that t is on the stack, and whether there are
// at most MaxFlatParams of them; if there are more, the list is nil.
func (t *Type) Flat() ([]CoreType, bool) { return t.layout.flat.types, !t.layout.flat.long }

// Offset is where the i-th field of a record or tuple begins.
func (t *Type) Offset(i int) uint32 { return t.layout.offsets[i] }

// PayloadOffset is where the payload of a variant, option or result begins.
func (t *Type) PayloadOffset() uint32 { return t.layout.payload }

func layoutOf(t *Type) layout {
	l := bareLayout(t)
	l.memory = t.kind == KindString || t.kind == KindList || t.kind == KindMap
	l.borrow = t.kind == KindBorrow
	t.parts(func(p *Type) {
		l.memory = l.memory || p.layout.memory
		l.borrow = l.borrow || p.layout.borrow
	})
	return l
}

func bareLayout(t *Type) layout {
	if n := scalarSize(t.kind); n != 0 {
		return layout{size: n, align: uint32(n), flat: flatOf(scalarCore(t.kind))}
	}
	switch t.kind {
	case KindString, KindList, KindMap:
		return layout{size: 2 * ptrSize, align: ptrSize, flat: flatOf(i32, i32)}
	case KindFixedList:
		return layoutOfFixedList(t.elem.layout, t.length)
	case KindRecord, KindTuple:
		return layoutOfFields(t.fields)
	case KindVariant, KindEnum, KindOption, KindResult:
		return layoutOfCases(t.cases)
	case KindFlags:
		n := flagsSize(len(t.labels))
		return layout{size: uint64(n), align: n, flat: flatOf(i32)}
	default: // a handle
		return layout{size: 4, align: 4, flat: flatOf(i32)}
	}
}

func scalarCore(k Kind) CoreType {
	switch k {
	case KindS64, KindU64:
		return i64
	case KindF32:
		return f32
	case KindF64:
		return f64
	default:
		return i32
	}
}

func layoutOfFixedList(elem layout, n uint32) layout {
	l := layout{size: satMul(elem.size, uint64(n)), align: elem.align}
	for range n {
		l.flat.append(elem.flat)
		if l.flat.long || len(elem.flat.types) == 0 {
			break
		}
	}
	return l
}

func layoutOfFields(fields []Field) layout {
	l := layout{align: 1, offsets: make([]uint32, len(fields))}
	for i, f := range fields {
		part := &f.Type.layout
		at := satAlign(l.size, part.align)
		l.offsets[i] = uint32(min(at, 1<<32-1))
		l.size = satAdd(at, part.size)
		l.align = max(l.align, part.align)
		l.flat.append(part.flat)
	}
	l.size = satAlign(l.size, l.align)
	return l
}

func layoutOfCases(cases []Case) layout {
	l := layout{disc: discSize(len(cases)), flat: flatOf(i32)}
	var payload flat
	var widest uint64
	caseAlign := uint32(1)
	for _, c := range cases {
		if c.Type == nil {
			continue
		}
		part := &c.Type.layout
		caseAlign = max(caseAlign, part.align)
		widest = max(widest, part.size)
		payload.join(part.flat)
	}
	l.align = max(l.disc, caseAlign)
	l.payload = uint32(satAlign(uint64(l.disc), caseAlign))
	l.size = satAlign(satAdd(uint64(l.payload), widest), l.align)
	l.flat.append(payload)
	return l
}

// discSize is the width of the discriminant of n cases.
func discSize(n int) uint32 {
	switch {
	case n <= 1<<8:
		return 1
	case n <= 1<<16:
		return 2
	default:
		return 4
	}
}

// flagsSize is the width of n flags.
func flagsSize(n int) uint32 {
	switch {
	case n <= 8:
		return 1
	case n <= 16:
		return 2
	default:
		return 4
	}
}

func flatOf(types ...CoreType) flat { return flat{types: types} }

// append adds the core types of o. It never shares memory with o.
func (f *flat) append(o flat) {
	if f.long || o.long || len(f.types)+len(o.types) > MaxFlatParams {
		*f = flat{long: true}
		return
	}
	f.types = append(f.types[:len(f.types):len(f.types)], o.types...)
}

// join widens f so that each of its slots also holds what o has there.
func (f *flat) join(o flat) {
	if f.long || o.long {
		*f = flat{long: true}
		return
	}
	for i, t := range o.types {
		switch {
		case i == len(f.types):
			f.types = append(f.types, t)
		case f.types[i] == t:
		case f.types[i] == i32 && t == f32, f.types[i] == f32 && t == i32:
			f.types[i] = i32
		default:
			f.types[i] = i64
		}
	}
}

func satAdd(a, b uint64) uint64 {
	if a+b < a {
		return 1<<64 - 1
	}
	return a + b
}

func satMul(a, b uint64) uint64 {
	if b != 0 && a > (1<<64-1)/b {
		return 1<<64 - 1
	}
	return a * b
}

// satAlign rounds n up to a multiple of align, a power of two.
func satAlign(n uint64, align uint32) uint64 {
	a := uint64(align) - 1
	if n > 1<<64-1-a {
		return 1<<64 - 1
	}
	return (n + a) &^ a
}
