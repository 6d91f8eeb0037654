package canon

import "strconv"

// A Type is a component value type. It is immutable and may be shared; two
// types are the same if [Equal] says so, not only if their pointers are.
type Type struct {
	kind   Kind
	depth  int
	length uint32
	elem   *Type // list, option, stream, future; map: the tuple of key and value
	fields []Field
	cases  []Case
	labels []string
	res    *ResourceType
	layout layout
}

// A Field is one field of a record; in a tuple its name is its position.
type Field struct {
	Name string
	Type *Type
}

// A Case is one case of a variant. Type is nil for a case without a payload.
type Case struct {
	Name string
	Type *Type
}

// A ResourceType names a resource in a type. A resource that Go defines is one
// fixed [Resource]. One that a component defines or imports is different in
// each instance: it has a slot, which the [Binding] of a call fills.
type ResourceType struct {
	// Name is the resource's name in WIT, for messages.
	Name string
	// Slot is the index in Binding.Resources; it is not used if Fixed is set.
	Slot int
	// Fixed is the resource itself, where it is the same for all instances.
	Fixed *Resource
}

var prims = func() (all [KindErrorContext + 1]*Type) {
	for k := KindBool; k <= KindString; k++ {
		all[k] = newType(Type{kind: k})
	}
	all[KindErrorContext] = newType(Type{kind: KindErrorContext})
	return all
}()

// Prim is the type of a kind that has no parts: bool, the numbers, char, string
// and error-context. For any other kind it is nil.
func Prim(k Kind) *Type {
	if int(k) < len(prims) {
		return prims[k]
	}
	return nil
}

// ListOf is list<elem>.
func ListOf(elem *Type) *Type { return newType(Type{kind: KindList, elem: elem}) }

// FixedListOf is list<elem, n>: n elements in place, with no pointer.
func FixedListOf(elem *Type, n uint32) *Type {
	return newType(Type{kind: KindFixedList, elem: elem, length: n})
}

// RecordOf is a record with these fields.
func RecordOf(fields ...Field) *Type { return newType(Type{kind: KindRecord, fields: fields}) }

// TupleOf is tuple<types...>.
func TupleOf(types ...*Type) *Type {
	fields := make([]Field, len(types))
	for i, t := range types {
		fields[i] = Field{Name: strconv.Itoa(i), Type: t}
	}
	return newType(Type{kind: KindTuple, fields: fields})
}

// VariantOf is a variant with these cases.
func VariantOf(cases ...Case) *Type { return newType(Type{kind: KindVariant, cases: cases}) }

// EnumOf is an enum with these cases.
func EnumOf(labels ...string) *Type {
	cases := make([]Case, len(labels))
	for i, l := range labels {
		cases[i].Name = l
	}
	return newType(Type{kind: KindEnum, cases: cases, labels: labels})
}

// OptionOf is option<elem>.
func OptionOf(elem *Type) *Type {
	return newType(Type{kind: KindOption, elem: elem, cases: []Case{{Name: "none"}, {Name: "some", Type: elem}}})
}

// ResultOf is result<ok, err>; either may be nil.
func ResultOf(ok, err *Type) *Type {
	return newType(Type{kind: KindResult, cases: []Case{{Name: "ok", Type: ok}, {Name: "error", Type: err}}})
}

// FlagsOf is a set of flags, the first label in the lowest bit.
func FlagsOf(labels ...string) *Type { return newType(Type{kind: KindFlags, labels: labels}) }

// MapOf is map<key, value>. Its ABI is that of list<tuple<key, value>>.
func MapOf(key, value *Type) *Type {
	return newType(Type{kind: KindMap, elem: TupleOf(key, value)})
}

// OwnOf is own<r>.
func OwnOf(r *ResourceType) *Type { return newType(Type{kind: KindOwn, res: r}) }

// BorrowOf is borrow<r>.
func BorrowOf(r *ResourceType) *Type { return newType(Type{kind: KindBorrow, res: r}) }

// StreamOf is stream<elem>; elem may be nil.
func StreamOf(elem *Type) *Type { return newType(Type{kind: KindStream, elem: elem}) }

// FutureOf is future<elem>; elem may be nil.
func FutureOf(elem *Type) *Type { return newType(Type{kind: KindFuture, elem: elem}) }

// Kind tells what t is.
func (t *Type) Kind() Kind { return t.kind }

// Elem is what a list, fixed-length list, option, stream or future is of; of a
// map it is tuple<key, value>.
func (t *Type) Elem() *Type { return t.elem }

// Len is the length of a fixed-length list.
func (t *Type) Len() uint32 { return t.length }

// Fields are the fields of a record or tuple. The slice must not be changed.
func (t *Type) Fields() []Field { return t.fields }

// Cases are the cases of a variant, enum, option ("none", "some") or result
// ("ok", "error"). The slice must not be changed.
func (t *Type) Cases() []Case { return t.cases }

// Labels are the names of the bits of flags, or of the cases of an enum. The
// slice must not be changed.
func (t *Type) Labels() []string { return t.labels }

// Resource is what an own or borrow is of.
func (t *Type) Resource() *ResourceType { return t.res }

// HasBorrow tells whether a part of t is a borrow, which no result may have.
func (t *Type) HasBorrow() bool { return t.layout.borrow }

// Depth is how deep t nests: 1 for a type without parts.
func (t *Type) Depth() int { return t.depth }

func newType(t Type) *Type {
	t.depth = 1 + t.deepest()
	t.layout = layoutOf(&t)
	return &t
}

// parts calls f for each type that t is made of; a missing payload is skipped.
func (t *Type) parts(f func(*Type)) {
	visit := func(p *Type) {
		if p != nil {
			f(p)
		}
	}
	switch t.kind {
	case KindRecord, KindTuple:
		for _, fl := range t.fields {
			visit(fl.Type)
		}
	case KindVariant, KindResult:
		for _, c := range t.cases {
			visit(c.Type)
		}
	default:
		visit(t.elem)
	}
}

func (t *Type) deepest() int {
	deepest := 0
	t.parts(func(p *Type) { deepest = max(deepest, p.depth) })
	return deepest
}
