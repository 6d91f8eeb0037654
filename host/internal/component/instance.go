package component

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero/api"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// Items are named things: the exports of an instance, or what serves imports.
// A value is a *HostFunc, a *Func, a *canon.Resource, a *Module or, for an
// instance, Items again. A type that is not a resource is nil.
type Items map[string]any

// HostFunc is a function that Go implements.
type HostFunc struct {
	Plan *canon.HostFunc
	// State is handed to the plan's body at every call.
	State any
}

// Module is a core module as a value of the component level.
type Module struct {
	typ    *moduleType
	module *coreModule
	owner  *Component
}

// InstanceConfig says what an instance gets.
type InstanceConfig struct {
	// Imports serve the component's imports. A name with a version is served by
	// the highest compatible one.
	Imports Items
	// Stubs links imports that nobody serves to functions that trap with the
	// import's name, instead of failing.
	Stubs bool
	// Limits are those of each component instance.
	Limits canon.Limits
	// Memory bounds what the memories and tables of all core modules take at
	// the start, in bytes. Zero stands for 4 GiB. How far they grow is for the
	// engine to limit.
	Memory uint64
	// Strict keeps the guest from calling anything while its allocator runs,
	// also what is lenient about that.
	Strict bool
	// Crossing, if set, is where the guest and Go meet.
	Crossing Crossing
}

// A Crossing stands between an instance and Go, where the host measures and
// ends what the guest does.
type Crossing interface {
	// Made is told of each instance of a core module before anything of it is
	// used: the place to run what [Options.Prepare] made of its start function.
	// The position is that of the module among those that Prepare saw, from 0.
	Made(ctx context.Context, position int, m api.Module) error
	// Run calls a function of the guest's.
	Run(ctx context.Context, f api.Function, stack []uint64) error
	// Call calls a function of Go's for the guest. The error is a trap.
	Call(ctx context.Context, f *HostFunc, b *canon.Binding, stack []uint64) error
}

// Instance is an instantiated component. It is not safe for concurrent use.
type Instance struct {
	component *Component
	config    InstanceConfig
	root      *componentInstance
	all       []*componentInstance
	modules   []api.Module
	count     int
	memory    uint64
}

// componentInstance is the state of one component instance: the index spaces
// of its definitions.
type componentInstance struct {
	owner  *Instance
	linked *linkedTemplate
	outer  *componentInstance // where the component was defined
	canon  *canon.Instance
	id     uint64

	modules    []*Module
	core       []api.Module // nil for bundles of exports
	funcs      []any        // *HostFunc or *Func
	components []*componentValue
	instances  []Items
	resources  []*canon.Resource // by slot
	exports    Items
	lowered    []*loweredFunc // by index of made functions
	bindings   map[bindingKey]*canon.Binding
	context    [2]uint32 // of the built-ins context.get and context.set
	pressure   int       // of the built-ins backpressure.inc and dec
}

// componentValue is a component together with where it was defined.
type componentValue struct {
	linked *linkedTemplate
	outer  *componentInstance
}

type bindingKey struct {
	plan  *canonPlan
	fused bool
}

// Instantiate makes an instance. Start functions run, so guest code may trap
// here. What cannot be linked is a [*LinkError], before anything has run.
func (c *Component) Instantiate(ctx context.Context, config InstanceConfig) (*Instance, error) {
	imports, err := c.resolveImports(config)
	if err != nil {
		return nil, &LinkError{err}
	}
	i := &Instance{component: c, config: config}
	root, err := i.instantiate(ctx, &componentValue{linked: c.root}, imports, nil)
	if err != nil {
		return nil, errors.Join(err, i.Close(ctx))
	}
	i.root = root
	return i, nil
}

// Exports are what the component exports.
func (i *Instance) Exports() Items { return i.root.exports }

// Close frees the instance. Resources of Go that the guest still holds are
// dropped.
func (i *Instance) Close(ctx context.Context) error {
	var errs []error
	for _, ci := range slices.Backward(i.all) {
		errs = append(errs, ci.canon.Close(ctx))
	}
	for _, m := range slices.Backward(i.modules) {
		errs = append(errs, m.Close(ctx))
	}
	for _, ci := range i.all {
		i.component.registry.drop(ci.id)
	}
	i.all, i.modules = nil, nil
	return errors.Join(errs...)
}

// Poisoned is the trap that ended the instance, or nil while it may be called.
func (i *Instance) Poisoned() error { return i.root.canon.Poisoned() }

// instantiate runs the definitions of one component.
func (i *Instance) instantiate(ctx context.Context, c *componentValue, args Items, parent *componentInstance) (*componentInstance, error) {
	if err := i.spend(); err != nil {
		return nil, err
	}
	var above *canon.Instance
	if parent != nil {
		above = parent.canon
	}
	l := c.linked
	ci := &componentInstance{owner: i, linked: l, outer: c.outer, canon: canon.NewInstance(above, i.config.Limits),
		resources: make([]*canon.Resource, len(l.slots)), exports: Items{},
		lowered: make([]*loweredFunc, len(l.made)), bindings: map[bindingKey]*canon.Binding{}}
	ci.id = i.component.registry.put(ci)
	i.all = append(i.all, ci)
	run := &instantiation{ctx: ctx, in: ci, args: args}
	for _, s := range l.steps {
		if err := s.run(run); err != nil {
			return nil, err
		}
	}
	return ci, nil
}

// spend counts one more instance against the limit.
func (i *Instance) spend() error {
	if i.count++; i.count > maxInstances {
		return errorAt(0, "the component makes more than %d instances", maxInstances)
	}
	return nil
}

// reserve counts what a core module takes at the start against the limit.
func (i *Instance) reserve(m *coreModule) error {
	limit := i.config.Memory
	if limit == 0 {
		limit = defaultMemory
	}
	if i.memory += m.memory; i.memory > limit {
		return fmt.Errorf("the memories of the component take more than %d bytes", limit)
	}
	return nil
}

// item takes an item of an index space; a type is its resource, or nil.
func (ci *componentInstance) item(r itemRef) any {
	switch r.sort {
	case sortCoreModule:
		return ci.modules[r.index]
	case sortFunc:
		return ci.funcs[r.index]
	case sortComponent:
		return ci.components[r.index]
	case sortInstance:
		return ci.instances[r.index]
	}
	if r.slot < 0 {
		return nil
	}
	return ci.resources[r.slot]
}

// push adds an item to its index space; types have none at run time.
func (ci *componentInstance) push(k sort, v any) {
	switch k {
	case sortCoreModule:
		ci.modules = append(ci.modules, v.(*Module))
	case sortFunc:
		ci.funcs = append(ci.funcs, v)
	case sortComponent:
		ci.components = append(ci.components, v.(*componentValue))
	case sortInstance:
		ci.instances = append(ci.instances, v.(Items))
	}
}

// bind fills the slots of resources that an import or instance brought.
func (ci *componentInstance) bind(v any, binds []binding) {
	for _, b := range binds {
		at := v
		for _, n := range b.path {
			at = at.(Items)[n]
		}
		ci.resources[b.slot], _ = at.(*canon.Resource)
	}
}
