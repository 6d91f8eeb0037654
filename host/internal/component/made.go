package component

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// trampoline is the Go side of a core function made by the canonical ABI. The
// instance that calls comes last on the stack; a result takes the first place.
// A trap leaves by panic, which the engine turns into the error of the call.
func (c *Component) trampoline(p *canonPlan) api.GoModuleFunc {
	n := len(p.sig.params)
	return func(ctx context.Context, _ api.Module, stack []uint64) {
		in := c.registry.get(stack[n])
		if err := in.callMade(ctx, p, stack[:max(n, len(p.sig.results))]); err != nil {
			panic(err)
		}
	}
}

// loweredFunc is a lowered function with what it calls in this instance.
type loweredFunc struct {
	binding *canon.Binding
	host    *HostFunc       // a function of Go's, or
	plan    *canon.HostFunc // one of another component, with its state
	state   any
	err     error // why it only traps
}

// callMade carries out a made function.
func (ci *componentInstance) callMade(ctx context.Context, p *canonPlan, stack []uint64) error {
	switch p.op {
	case canonLower:
		l := ci.lowered[p.index]
		if l == nil {
			l = ci.lower(p)
			ci.lowered[p.index] = l
		}
		if l.err != nil {
			return l.err
		}
		if l.host != nil {
			return ci.callHost(ctx, l, stack)
		}
		return l.plan.Call(ctx, l.binding, l.state, stack)
	case canonResourceNew:
		return ci.resourceNew(p, stack)
	case canonResourceRep:
		rep, err := ci.canon.Handles.Rep(ci.resources[p.slot], uint32(stack[0]))
		stack[0] = uint64(rep.Guest)
		return err
	case canonResourceDrop:
		return ci.resourceDrop(ctx, p, uint32(stack[0]))
	case canonContextGet:
		stack[0] = uint64(ci.context[p.slot])
		return nil
	case canonContextSet:
		ci.context[p.slot] = uint32(stack[0])
		return nil
	case canonBackpressureInc, canonBackpressureDec:
		return ci.backpressure(p.op)
	}
	if err := ci.canon.MayLeave(p.label); err != nil {
		return err
	}
	return &canon.Trap{Text: fmt.Sprintf("%s is not supported: this host runs synchronous components", p.label)}
}

func (ci *componentInstance) callHost(ctx context.Context, l *loweredFunc, stack []uint64) error {
	config := &ci.owner.config
	if config.Strict {
		if err := ci.canon.MayLeave(l.host.Plan.Name()); err != nil {
			return err
		}
	}
	if config.Crossing != nil {
		return config.Crossing.Call(ctx, l.host, l.binding, stack)
	}
	return l.host.Plan.Call(ctx, l.binding, l.host.State, stack)
}

// backpressure counts, which is all there is to it: it holds back asynchronous
// calls, and there are none.
func (ci *componentInstance) backpressure(op canonOp) error {
	if op == canonBackpressureInc {
		ci.pressure++
	} else {
		ci.pressure--
	}
	if ci.pressure < 0 || ci.pressure > 1<<16-1 {
		return &canon.Trap{Text: "backpressure counter overflow"}
	}
	return nil
}

func (ci *componentInstance) resourceNew(p *canonPlan, stack []uint64) error {
	if err := ci.canon.MayLeave(p.label); err != nil {
		return err
	}
	h, err := ci.canon.Handles.New(ci.resources[p.slot], canon.Rep{Guest: uint32(stack[0])})
	stack[0] = uint64(h)
	return err
}

func (ci *componentInstance) resourceDrop(ctx context.Context, p *canonPlan, handle uint32) error {
	r := ci.resources[p.slot]
	if err := ci.canon.MayLeave(p.label); err != nil && (!r.Lenient || ci.owner.config.Strict) {
		return err
	}
	if r.Impl != nil && r.Drop != nil {
		ctx = context.WithValue(ctx, dropper{}, ci.canon)
	}
	return ci.canon.Handles.Drop(ctx, r, handle)
}

// lower resolves what a lowered function calls.
func (ci *componentInstance) lower(p *canonPlan) *loweredFunc {
	switch f := ci.funcs[p.target].(type) {
	case *HostFunc:
		return &loweredFunc{host: f, binding: ci.binding(p, false)}
	case *UnservedError:
		return &loweredFunc{err: f}
	case *Func:
		if err := ci.linked.refused[p.index]; err != nil {
			return &loweredFunc{err: err}
		}
		if f.plan.refused != nil {
			return &loweredFunc{err: f.plan.refused}
		}
		if f.in == ci {
			return &loweredFunc{err: &canon.Trap{Text: "cannot enter component instance", Detail: "it calls a function of its own"}}
		}
		if f.fused == nil {
			f.fused = f.export(true)
		}
		return &loweredFunc{plan: ci.linked.lowers[p.index], state: &guestCall{f, ci.canon}, binding: ci.binding(p, true)}
	}
	return &loweredFunc{err: fmt.Errorf("internal error: lowered function has no target")}
}

// guestCall is a call from one component to another.
type guestCall struct {
	callee *Func
	caller *canon.Instance
}

// callGuest is the body of every lowered function whose target is a component.
func callGuest(ctx context.Context, state any, args []canon.Value, result *canon.Value) error {
	c := state.(*guestCall)
	return c.callee.plan.dynamic.Call(ctx, c.callee.fused, c.caller, args, result)
}

// UnservedError is the trap of a guest that calls an import which nobody serves
// and which was linked to a stub.
type UnservedError struct {
	// Import is the function, as in `ns:pkg/iface@1.2.3#name`.
	Import string
}

// Error implements error.
func (e *UnservedError) Error() string {
	return fmt.Sprintf("the guest called `%s`, which this host does not serve", e.Import)
}
