package component

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// Func is a function that a component instance exports.
type Func struct {
	in    *componentInstance
	plan  *liftPlan
	host  *canon.Export // as Go calls it
	fused *canon.Export // as another component calls it
}

// Type is the function's type. Its resources are slots of Export's binding. It
// is nil for a function that this host cannot call: Export says why.
func (f *Func) Type() *canon.FuncType { return f.plan.typ }

// Export is the function for a canon.GuestFunc. It fails for a function that
// this host cannot call, such as an asynchronous one.
func (f *Func) Export() (*canon.Export, error) {
	if f.plan.refused != nil {
		return nil, f.plan.refused
	}
	if f.host == nil {
		f.host = f.export(false)
	}
	return f.host, nil
}

// Call calls the function with dynamic values. The result may be nil if nobody
// looks at it.
func (f *Func) Call(ctx context.Context, args []canon.Value, result *canon.Value) error {
	e, err := f.Export()
	if err != nil {
		return err
	}
	if result == nil {
		result = new(canon.Value)
	}
	return f.plan.dynamic.Call(ctx, e, nil, args, result)
}

// Resource resolves a resource of the function's type.
func (f *Func) Resource(t *canon.ResourceType) *canon.Resource { return f.in.resources[t.Slot] }

func (f *Func) export(fused bool) *canon.Export {
	e := &canon.Export{Name: f.plan.label, Binding: f.in.binding(f.plan.canonPlan, fused), Core: f.in.coreFunc(f.plan.core)}
	if f.in.linked.context {
		e.Core = &freshContext{f.in, e.Core}
	}
	if f.plan.opts.postReturn != nil {
		e.PostReturn = f.in.coreFunc(*f.plan.opts.postReturn)
	}
	return e
}

// binding gives the canonical options of a function in this instance.
func (ci *componentInstance) binding(p *canonPlan, fused bool) *canon.Binding {
	key := bindingKey{p, fused}
	if b, ok := ci.bindings[key]; ok {
		return b
	}
	b := &canon.Binding{Instance: ci.canon, Resources: ci.resources, Fused: fused,
		Encoding: [...]canon.Encoding{optUTF8: canon.UTF8, optUTF16: canon.UTF16, optLatin1UTF16: canon.Latin1OrUTF16}[p.opts.encoding]}
	if m := p.opts.memory; m != nil {
		b.Memory = canon.MemoryOf(ci.core[m.instance].ExportedMemory(m.name))
	}
	if f := p.opts.realloc; f != nil {
		b.Realloc = ci.coreFunc(*f)
		if ci.linked.context {
			b.Realloc = &ownContext{ci, b.Realloc}
		}
	}
	ci.bindings[key] = b
	return b
}

// coreFunc gives a core function of the instance by where it comes from.
func (ci *componentInstance) coreFunc(r coreRef) canon.CoreFunc {
	if r.made != nil {
		return &madeFunc{ci, r.made}
	}
	return &wasmFunc{mod: ci.core[r.instance], name: r.name, crossing: ci.owner.config.Crossing}
}

// wasmFunc is an exported core function. The engine's function objects have one
// stack each, so a nested call (a destructor that drops a resource with the
// same destructor) needs another one. Looking a function up is dear and many
// are never called, so that is left to the first call.
type wasmFunc struct {
	mod      api.Module
	name     string
	crossing Crossing
	objects  []api.Function // by how many calls are in progress
	running  int
}

// CallWithStack implements canon.CoreFunc.
func (w *wasmFunc) CallWithStack(ctx context.Context, stack []uint64) error {
	if w.running == len(w.objects) {
		f := w.mod.ExportedFunction(w.name)
		if f == nil {
			return fmt.Errorf("internal error: core function %q is gone", w.name)
		}
		w.objects = append(w.objects, f)
	}
	f := w.objects[w.running]
	w.running++
	var err error
	if w.crossing != nil {
		err = w.crossing.Run(ctx, f, stack)
	} else {
		err = f.CallWithStack(ctx, stack)
	}
	w.running--
	return err
}

// madeFunc is a core function that the canonical ABI makes, called without
// WebAssembly in between: a component may lift what it lowered.
type madeFunc struct {
	in   *componentInstance
	plan *canonPlan
}

// CallWithStack implements canon.CoreFunc.
func (m *madeFunc) CallWithStack(ctx context.Context, stack []uint64) error {
	return m.in.callMade(ctx, m.plan, stack)
}

// freshContext starts each call with an empty context.get state, which
// post-return still sees.
type freshContext struct {
	in   *componentInstance
	core canon.CoreFunc
}

// CallWithStack implements canon.CoreFunc.
func (f *freshContext) CallWithStack(ctx context.Context, stack []uint64) error {
	f.in.context = [2]uint32{}
	return f.core.CallWithStack(ctx, stack)
}

// ownContext runs realloc, which has a context.get state of its own.
type ownContext struct {
	in   *componentInstance
	core canon.CoreFunc
}

// CallWithStack implements canon.CoreFunc.
func (f *ownContext) CallWithStack(ctx context.Context, stack []uint64) error {
	outer := f.in.context
	f.in.context = [2]uint32{}
	err := f.core.CallWithStack(ctx, stack)
	f.in.context = outer
	return err
}

// destructor is the guest's destructor of one resource type.
type destructor struct {
	in   *componentInstance
	core canon.CoreFunc
}

// dropper is the context key under which resource.drop says who drops.
type dropper struct{}

// drop calls the destructor. An instance that drops its own resource stays
// inside itself; for any other the call enters the defining instance.
func (d *destructor) drop(ctx context.Context, rep canon.Rep) error {
	stack := [1]uint64{uint64(rep.Guest)}
	caller, _ := ctx.Value(dropper{}).(*canon.Instance)
	if caller == d.in.canon {
		return d.core.CallWithStack(ctx, stack[:])
	}
	if err := d.in.canon.Enter(caller); err != nil {
		return err
	}
	err := d.core.CallWithStack(ctx, stack[:])
	d.in.canon.Leave(caller)
	if err != nil {
		d.in.canon.Poison(err)
	}
	return err
}
