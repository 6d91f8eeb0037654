package component

import "fmt"

// Signatures of the built-ins of the asynchronous ABI (CanonicalABI.md,
// canonical definitions). A guest may link them; calling one traps.
var (
	sigNone     = sig(0, 0)
	asyncBuilts = map[canonOp]*coreFuncType{
		canonTaskCancel: sigNone, canonSubtaskCancel: sig(1, 1), canonSubtaskDrop: sig(1, 0),
		canonThreadYield: sig(0, 1), canonErrorContextNew: sig(2, 1), canonErrorContextMessage: sig(2, 0),
		canonErrorContextDrop: sig(1, 0), canonWaitableSetNew: sig(0, 1), canonWaitableSetWait: sig(2, 1),
		canonWaitableSetPoll: sig(2, 1), canonWaitableSetDrop: sig(1, 0), canonWaitableJoin: sig(2, 0),
		canonBackpressureInc: sigNone, canonBackpressureDec: sigNone, canonThreadIndex: sig(0, 1),
		canonThreadNewIndirect: sig(2, 1), canonThreadResumeLater: sig(1, 0), canonThreadSuspend: sig(0, 1),
		canonThreadSuspendResume: sig(1, 1), canonThreadYieldResume: sig(1, 1), canonThreadSuspendPromote: sig(1, 1),
		canonThreadYieldPromote: sig(1, 1), canonThreadParallelism: sig(0, 1), canonThreadSpawnRef: sig(2, 1),
		canonThreadSpawnIndirect: sig(2, 1),
		canonStreamRead:          sig(3, 1), canonStreamWrite: sig(3, 1), canonFutureRead: sig(2, 1), canonFutureWrite: sig(2, 1),
		canonStreamCancelRead: sig(1, 1), canonStreamCancelWrite: sig(1, 1),
		canonFutureCancelRead: sig(1, 1), canonFutureCancelWrite: sig(1, 1),
		canonStreamDropReadable: sig(1, 0), canonStreamDropWritable: sig(1, 0),
		canonFutureDropReadable: sig(1, 0), canonFutureDropWritable: sig(1, 0),
		canonStreamNew: {results: []valueType{valI64}}, canonFutureNew: {results: []valueType{valI64}},
	}
)

// sig is a core function type of so many i32s.
func sig(params, results int) *coreFuncType {
	of := func(n int) []valueType {
		t := make([]valueType, n)
		for i := range t {
			t[i] = valI32
		}
		return t
	}
	return &coreFuncType{of(params), of(results)}
}

func (v *validator) asyncBuiltin(s *scope, d *defCanon, p *canonPlan) error {
	p.sig = asyncBuilts[d.op]
	var err error
	switch d.op {
	case canonTaskReturn:
		err = v.taskReturn(s, d, p)
	case canonContextGet, canonContextSet:
		err = contextBuiltin(d, p)
	case canonStreamNew, canonStreamRead, canonStreamWrite, canonStreamCancelRead, canonStreamCancelWrite,
		canonStreamDropReadable, canonStreamDropWritable:
		err = v.endBuiltin(s, d, kindStream)
	case canonFutureNew, canonFutureRead, canonFutureWrite, canonFutureCancelRead, canonFutureCancelWrite,
		canonFutureDropReadable, canonFutureDropWritable:
		err = v.endBuiltin(s, d, kindFuture)
	case canonWaitableSetWait, canonWaitableSetPoll:
		_, err = s.coreAt(sortCoreMemory, d.index)
	case canonThreadNewIndirect, canonThreadSpawnRef, canonThreadSpawnIndirect:
		err = threadBuiltin(s, d)
	}
	if err != nil {
		return err
	}
	if d.opts != nil && d.op != canonTaskReturn {
		p.opts, err = v.options(s, d.opts)
	}
	return err
}

func (v *validator) taskReturn(s *scope, d *defCanon, p *canonPlan) error {
	t, err := v.valType(s, d.result)
	if err != nil {
		return err
	}
	if p.opts, err = v.options(s, d.opts); err != nil {
		return err
	}
	if p.opts.realloc != nil || p.opts.postReturn != nil || p.opts.async {
		return fmt.Errorf("cannot specify `realloc`, `post-return` or `async` on `task.return`")
	}
	f := &funcType{}
	if t != nil {
		f.params, f.size = []field{{"result", t}}, t.facts().size
	}
	if err := v.willPlan(f); err != nil {
		return err
	}
	params, spill := flatParams(f, maxFlatParams)
	p.sig = &coreFuncType{params: params}
	return p.opts.check(spill || anyPointers(f.params), false)
}

func contextBuiltin(d *defCanon, p *canonPlan) error {
	if d.value != valI32 {
		return fmt.Errorf("%s: only i32 is supported", d.op)
	}
	if d.slot > 1 {
		return fmt.Errorf("immediate must be zero or one: %d", d.slot)
	}
	p.slot, p.value = int(d.slot), d.value
	p.sig = sig(0, 1)
	if d.op == canonContextSet {
		p.sig = sig(1, 0)
	}
	return nil
}

func (v *validator) endBuiltin(s *scope, d *defCanon, k kind) error {
	t, err := s.typeAt(d.index)
	if err != nil {
		return err
	}
	if def, ok := t.(*valueDef); !ok || def.kind != k {
		return fmt.Errorf("`%s` requires a %s type", d.op, k)
	}
	return nil
}

func threadBuiltin(s *scope, d *defCanon) error {
	t, err := at(s.coreTypes, d.index, "type")
	if err != nil {
		return err
	}
	if t.fn == nil || !t.fn.equal(sig(1, 0)) {
		return fmt.Errorf("start function must be of type (func (param i32))")
	}
	if d.op == canonThreadSpawnRef {
		return nil
	}
	_, err = s.coreAt(sortCoreTable, d.typ)
	return err
}
