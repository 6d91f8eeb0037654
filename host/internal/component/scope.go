package component

import "fmt"

type scopeKind uint8

const (
	scopeComponent scopeKind = iota
	scopeComponentType
	scopeInstanceType
)

// coreRef is where a core item comes from: a function made by the canonical
// ABI, or an export of a core instance.
type coreRef struct {
	made     *canonPlan
	instance int
	name     string
}

// coreItem is an entry of a core index space.
type coreItem struct {
	typ coreExtern
	ref coreRef
}

// coreTypeEntry is a core function type or a core module type.
type coreTypeEntry struct {
	fn     *coreFuncType
	module *moduleType
}

// scope is a component, component type or instance type being validated: its
// index spaces as they grow.
type scope struct {
	kind   scopeKind
	parent *scope
	depth  int

	core          [sortCoreTag + 1][]coreItem // by sort
	coreTypes     []coreTypeEntry
	modules       []*moduleType
	coreInstances []map[string]coreItem
	funcs         []*funcType
	types         []anyType
	components    []*componentType
	instances     []*instanceType

	importedFuncs            map[int]bool // function indices that imports made
	itemNames                map[itemRef]string
	imports, exports         externs
	importNames, exportNames *nameSet
	// importedTypes and exportedTypes are the names of types that are visible
	// from outside.
	importedTypes, exportedTypes map[anyType]bool
	// imported and defined are the resources that an instance gets or makes.
	imported, defined []*resource
	// local are the resources defined by this very component.
	local map[*resource]bool

	plan *template // of components
}

func newScope(kind scopeKind, parent *scope) *scope {
	s := &scope{kind: kind, parent: parent, importNames: newNameSet("import"), exportNames: newNameSet("export"),
		importedTypes: map[anyType]bool{}, exportedTypes: map[anyType]bool{}, local: map[*resource]bool{},
		importedFuncs: map[int]bool{}, itemNames: map[itemRef]string{}}
	if parent != nil {
		s.depth = parent.depth + 1
	}
	if kind == scopeComponent {
		s.plan = newTemplate()
	}
	return s
}

// at takes item i of an index space.
func at[T any](space []T, i uint32, what string) (T, error) {
	if int64(i) >= int64(len(space)) {
		var zero T
		return zero, fmt.Errorf("unknown %s %d: %s index out of bounds", what, i, what)
	}
	return space[i], nil
}

func (s *scope) coreAt(k sort, i uint32) (coreItem, error) {
	return at(s.core[k], i, k.String())
}

func (s *scope) typeAt(i uint32) (anyType, error) { return at(s.types, i, "type") }

func (s *scope) funcTypeAt(i uint32) (*funcType, error) {
	t, err := s.typeAt(i)
	if err != nil {
		return nil, err
	}
	if f, ok := t.(*funcType); ok {
		return f, nil
	}
	return nil, fmt.Errorf("type index %d is not a function type", i)
}

func (s *scope) instanceTypeAt(i uint32) (*instanceType, error) {
	t, err := s.typeAt(i)
	if err != nil {
		return nil, err
	}
	if f, ok := t.(*instanceType); ok {
		return f, nil
	}
	return nil, fmt.Errorf("type index %d is not an instance type", i)
}

func (s *scope) componentTypeAt(i uint32) (*componentType, error) {
	t, err := s.typeAt(i)
	if err != nil {
		return nil, err
	}
	if f, ok := t.(*componentType); ok {
		return f, nil
	}
	return nil, fmt.Errorf("type index %d is not a component type", i)
}

func (s *scope) resourceAt(i uint32) (*resourceType, error) {
	t, err := s.typeAt(i)
	if err != nil {
		return nil, err
	}
	if r, ok := t.(*resourceType); ok {
		return r, nil
	}
	return nil, fmt.Errorf("type index %d is not a resource type", i)
}

func (s *scope) moduleTypeAt(i uint32) (*moduleType, error) {
	t, err := at(s.coreTypes, i, "type")
	if err != nil {
		return nil, err
	}
	if t.module == nil {
		return nil, fmt.Errorf("core type index %d is not a module type", i)
	}
	return t.module, nil
}

// outer finds the scope count levels out.
func (s *scope) outer(count uint32) (*scope, error) {
	if int64(count) > int64(s.depth) {
		return nil, fmt.Errorf("invalid outer alias count of %d", count)
	}
	for range count {
		s = s.parent
	}
	return s, nil
}

// crossesComponent says whether a component boundary lies between s and the
// scope count levels out.
func (s *scope) crossesComponent(count uint32) bool {
	for range count {
		if s.kind == scopeComponent {
			return true
		}
		s = s.parent
	}
	return false
}

// extern gives the type of item i of a sort that can be exported.
func (s *scope) extern(k sort, i uint32) (externType, error) {
	var t externType
	var err error
	t.sort = k
	switch k {
	case sortCoreModule:
		t.module, err = at(s.modules, i, "module")
	case sortFunc:
		t.typ, err = typed(s.funcs, i, "function")
	case sortType:
		t.typ, err = s.typeAt(i)
	case sortComponent:
		t.typ, err = typed(s.components, i, "component")
	case sortInstance:
		t.typ, err = typed(s.instances, i, "instance")
	default:
		err = fmt.Errorf("value exports are not supported")
	}
	return t, err
}

func typed[T anyType](space []T, i uint32, what string) (anyType, error) {
	t, err := at(space, i, what)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// push adds an item to its index space.
func (s *scope) push(t externType) error {
	var n int
	switch t.sort {
	case sortCoreModule:
		s.modules = append(s.modules, t.module)
		n = len(s.modules)
	case sortFunc:
		s.funcs = append(s.funcs, t.typ.(*funcType))
		n = len(s.funcs)
	case sortType:
		s.types = append(s.types, t.typ)
		n = len(s.types)
	case sortComponent:
		s.components = append(s.components, t.typ.(*componentType))
		n = len(s.components)
	case sortInstance:
		s.instances = append(s.instances, t.typ.(*instanceType))
		n = len(s.instances)
	}
	if n > maxIndexSpace {
		return fmt.Errorf("more than %d items of sort %s", maxIndexSpace, t.sort)
	}
	return nil
}

// nameItem notes what the next item of a sort is called outside, for messages.
func (s *scope) nameItem(k sort, name string) {
	switch k {
	case sortFunc:
		s.itemNames[itemRef{sort: k, index: uint32(len(s.funcs))}] = name
	case sortInstance:
		s.itemNames[itemRef{sort: k, index: uint32(len(s.instances))}] = name
	}
}
