package component

import "fmt"

// The types of a component after validation. Identity is by pointer: importing
// or exporting a type gives it a new name and so a new pointer, which is how the
// rules on visible types (Explainer.md, external visibility of types) and the
// substitution at instantiation tell names apart. Types are never changed once
// made.

// anyType is what a type index can stand for: *valueDef, *funcType,
// *instanceType, *componentType or *resourceType.
type anyType interface{ describe() string }

// resource is the identity of a resource type: two are the same only if they
// are the same pointer.
type resource struct {
	name string // for messages
}

// resourceType is one name of a resource.
type resourceType struct{ res *resource }

// valType is a primitive (def is nil) or a defined type.
type valType struct {
	prim kind
	def  *valueDef
}

// kind gives the form of the type, looking through names of primitives.
func (v valType) kind() kind {
	if v.def != nil {
		return v.def.kind
	}
	return v.prim
}

// valueDef is a defined value type.
type valueDef struct {
	kind   kind
	fields []field       // record, variant
	elems  []valType     // tuple
	labels []string      // flags, enum
	elem   *valType      // list, option, stream, future, ok, map key
	other  *valType      // error, map value
	length uint32        // list of fixed length
	res    *resourceType // own, borrow

	facts
}

type field struct {
	name string
	typ  *valType // nil for a case without payload
}

// facts are what is known of a type from its parts.
type facts struct {
	depth     int    // nesting, 1 for a leaf
	size      int    // nodes, when written out in full
	borrow    bool   // holds a borrow
	resources bool   // holds a handle
	bytes     uint64 // in memory with 64-bit pointers
	align     uint64
}

type funcType struct {
	async  bool
	params []field
	result *valType
	size   int
	depth  int
}

// externType is the type of an import or export.
type externType struct {
	sort   sort
	typ    anyType     // functions, types, instances, components
	module *moduleType // core modules
}

// externs is a list of imports or exports in order.
type externs struct {
	names []string
	types map[string]externType
}

func (e *externs) add(name string, t externType) {
	if e.types == nil {
		e.types = map[string]externType{}
	}
	e.names = append(e.names, name)
	e.types[name] = t
}

// instanceType is what an instance exports. defined are the resources that
// each instance of the type has anew.
type instanceType struct {
	exports externs
	defined []*resource
	size    int
	depth   int
}

// componentType is what a component imports and exports. imported are the
// resources that instantiation supplies, defined those it makes anew.
type componentType struct {
	imports, exports  externs
	imported, defined []*resource
	size              int
	depth             int
}

func (*resourceType) describe() string  { return "resource" }
func (*valueDef) describe() string      { return "defined type" }
func (*funcType) describe() string      { return "func" }
func (*instanceType) describe() string  { return "instance" }
func (*componentType) describe() string { return "component" }

// rename gives a type a new name: the same type under a new pointer.
func rename(t anyType) anyType {
	switch t := t.(type) {
	case *resourceType:
		c := *t
		return &c
	case *valueDef:
		c := *t
		return &c
	case *funcType:
		c := *t
		return &c
	case *instanceType:
		c := *t
		return &c
	case *componentType:
		c := *t
		return &c
	}
	return t
}

// externWord is the word for a sort in the messages of the reference tools.
func externWord(s sort) string {
	if s == sortFunc {
		return "func"
	}
	return s.String()
}

// sizeOf gives the size and depth of what an extern type refers to.
func (e externType) sizeOf() (size, depth int) {
	switch t := e.typ.(type) {
	case *valueDef:
		return t.size, t.depth
	case *funcType:
		return t.size, t.depth
	case *instanceType:
		return t.size, t.depth
	case *componentType:
		return t.size, t.depth
	}
	if e.module != nil {
		return 1 + len(e.module.imports) + len(e.module.exports), 1
	}
	return 1, 1
}

// measure sums up externs and holds them against the limits.
func measure(lists ...externs) (size, depth int, err error) {
	size = 1
	for _, l := range lists {
		for _, n := range l.names {
			s, d := l.types[n].sizeOf()
			size += s
			depth = max(depth, d)
		}
	}
	return size, depth + 1, checkMeasure(size, depth+1)
}

func checkMeasure(size, depth int) error {
	if size > maxTypeSize {
		return fmt.Errorf("effective type size exceeds the limit of %d", maxTypeSize)
	}
	if depth > maxTypeDepth {
		return fmt.Errorf("type nesting is too deep: the limit is %d", maxTypeDepth)
	}
	return nil
}
