package component

// template is a validated component: what all its instances share.
type template struct {
	typ     *componentType
	steps   []step
	modules []*coreModule
	made    []*canonPlan // core functions that the canonical ABI makes
	slots   map[*resource]int
	customs []CustomSection

	reexport string // an export that is an imported function, if there is one
}

func newTemplate() *template { return &template{slots: map[*resource]int{}} }

// step is one definition as an instance carries it out.
type step interface{ run(*instantiation) error }

// slot gives the place that a resource has in every instance of t.
func (t *template) slot(r *resource) int {
	i, ok := t.slots[r]
	if !ok {
		i = len(t.slots)
		t.slots[r] = i
	}
	return i
}

func (t *template) add(s step) { t.steps = append(t.steps, s) }

func (t *template) addCanon(p *canonPlan) {
	p.index = len(t.made)
	t.made = append(t.made, p)
}

func (t *template) addModule(m *coreModule) {
	t.modules = append(t.modules, m)
	t.add(&stepModule{m})
}

func (t *template) finish(typ *componentType, customs []CustomSection) {
	t.typ, t.customs = typ, customs
}

// itemRef is an item of an index space. A type is carried by the slot of its
// resource, -1 if it is not one.
type itemRef struct {
	sort  sort
	index uint32
	slot  int
}

type namedItem struct {
	name string
	item itemRef
}

func (t *template) item(e externType, index uint32) itemRef {
	ref := itemRef{sort: e.sort, index: index, slot: -1}
	if r, ok := e.typ.(*resourceType); ok {
		ref.slot = t.slot(r.res)
	}
	return ref
}

// binding says that the resource exported under path fills a slot.
type binding struct {
	path []string
	slot int
}

// bindings finds where an import or instance first shows each of the
// resources.
func (t *template) bindings(e externType, resources []*resource) []binding {
	if len(resources) == 0 {
		return nil
	}
	wanted := make(map[*resource]bool, len(resources))
	for _, r := range resources {
		wanted[r] = true
	}
	var out []binding
	t.findBindings(e, wanted, nil, &out)
	return out
}

func (t *template) findBindings(e externType, wanted map[*resource]bool, path []string, out *[]binding) {
	switch typ := e.typ.(type) {
	case *resourceType:
		if e.sort == sortType && wanted[typ.res] {
			delete(wanted, typ.res)
			*out = append(*out, binding{append([]string(nil), path...), t.slot(typ.res)})
		}
	case *instanceType:
		if e.sort != sortInstance {
			return
		}
		for _, n := range typ.exports.names {
			if len(wanted) == 0 {
				return
			}
			t.findBindings(typ.exports.types[n], wanted, append(path, n), out)
		}
	}
}

type (
	stepModule    struct{ module *coreModule }
	stepCoreBag   struct{}
	stepComponent struct{ template *template }
	stepLift      struct{ plan *canonPlan }

	stepCoreInstantiate struct {
		module uint32
		args   map[string]map[string]coreItem
	}
	stepResource struct {
		res  *resource
		slot int
		dtor *coreRef
	}
	stepImport struct {
		name  string
		typ   externType
		binds []binding
	}
	stepExport struct {
		name   string
		typ    externType
		item   itemRef
		opaque int // the slot of the resource it is seen as from now on, or -1
	}
	stepInstantiate struct {
		component uint32
		args      []namedItem
		typ       *instanceType
		binds     []binding
	}
	stepBag struct {
		exports []namedItem
		typ     *instanceType
	}
	stepAlias struct {
		sort     sort
		instance uint32
		name     string
	}
	stepOuter struct {
		sort  sort
		count uint32
		index uint32
	}
)
