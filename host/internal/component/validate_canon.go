package component

import (
	"fmt"
	"slices"
	"strings"
)

// canonPlan is a function of the canonical ABI: a lifted function, or a core
// function made by lowering or a built-in.
type canonPlan struct {
	op    canonOp
	index int // among the core functions that the component makes
	sig   *coreFuncType
	// target is the function lowered, by index; core the one lifted.
	target uint32
	core   coreRef
	fn     *funcType // lifts and lowers
	opts   canonOptions
	res    *resource // resource built-ins
	slot   int       // of the resource, or of context.get and context.set
	value  valueType
	label  string // for traps and stack traces
}

// canonOptions are the resolved canonical options.
type canonOptions struct {
	encoding   int // optUTF8, optUTF16, optLatin1UTF16
	memory     *coreRef
	realloc    *coreRef
	postReturn *coreRef
	callback   *coreRef
	async      bool
}

func (v *validator) canon(s *scope, d *defCanon) error {
	if v.canons++; v.canons > maxCanons {
		return fmt.Errorf("more than %d canonical functions", maxCanons)
	}
	if d.op == canonLift {
		return v.lift(s, d)
	}
	p := &canonPlan{op: d.op, label: d.op.String()}
	var err error
	switch d.op {
	case canonLower:
		err = v.lower(s, d, p)
	case canonResourceNew, canonResourceDrop, canonResourceRep:
		err = v.resourceBuiltin(s, d, p)
	default:
		err = v.asyncBuiltin(s, d, p)
	}
	if err != nil {
		return err
	}
	s.plan.addCanon(p)
	item := coreItem{coreExtern{sort: sortCoreFunc, fn: p.sig}, coreRef{made: p}}
	s.core[sortCoreFunc] = append(s.core[sortCoreFunc], item)
	return nil
}

// willPlan accounts for the plan of a function. It comes before anything that
// walks the whole type.
func (v *validator) willPlan(f *funcType) error {
	if v.planned += f.size; v.planned > maxPlanned {
		return fmt.Errorf("the types of canonical functions are larger than %d together", maxPlanned)
	}
	return nil
}

func (v *validator) lift(s *scope, d *defCanon) error {
	f, err := s.funcTypeAt(d.typ)
	if err != nil {
		return err
	}
	if err := v.willPlan(f); err != nil {
		return err
	}
	core, err := s.coreAt(sortCoreFunc, d.index)
	if err != nil {
		return err
	}
	opts, err := v.options(s, d.opts)
	if err != nil {
		return err
	}
	if opts.async && !f.async {
		return fmt.Errorf("the `async` option can only be used with an async function type")
	}
	need := liftNeeds(f, opts)
	if err := opts.check(need.memory, need.realloc); err != nil {
		return err
	}
	if err := matchCore(core.typ.fn, need.sig); err != nil {
		return err
	}
	if err := v.checkPostReturn(s, d, core.typ.fn); err != nil {
		return err
	}
	p := &canonPlan{op: canonLift, sig: core.typ.fn, core: core.ref, fn: f, opts: opts, label: core.ref.name}
	s.plan.add(&stepLift{p})
	return s.push(externType{sort: sortFunc, typ: f})
}

func (v *validator) checkPostReturn(s *scope, d *defCanon, core *coreFuncType) error {
	for _, o := range d.opts {
		if o.code != optPostReturn {
			continue
		}
		f, err := s.coreAt(sortCoreFunc, o.index)
		if err != nil {
			return err
		}
		if !f.typ.fn.equal(&coreFuncType{params: core.results}) {
			return fmt.Errorf("canonical option `post-return` uses a core function with an incorrect signature")
		}
	}
	return nil
}

func matchCore(got, want *coreFuncType) error {
	if !slices.Equal(got.params, want.params) {
		return fmt.Errorf("lowered parameter types `%s` do not match parameter types `%s` of the core function",
			typeList(want.params), typeList(got.params))
	}
	if !slices.Equal(got.results, want.results) {
		return fmt.Errorf("lowered result types `%s` do not match result types `%s` of the core function",
			typeList(want.results), typeList(got.results))
	}
	return nil
}

// typeList writes types as the reference tools do: [I32, I64].
func typeList(types []valueType) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = strings.ToUpper(t.String())
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func (v *validator) lower(s *scope, d *defCanon, p *canonPlan) error {
	f, err := at(s.funcs, d.index, "function")
	if err != nil {
		return err
	}
	if err := v.willPlan(f); err != nil {
		return err
	}
	for _, o := range d.opts {
		if o.code == optPostReturn || o.code == optCallback {
			return fmt.Errorf("canonical option `%s` cannot be specified for lowerings", optName(o.code))
		}
	}
	if p.opts, err = v.options(s, d.opts); err != nil {
		return err
	}
	need := lowerNeeds(f, p.opts)
	if err := p.opts.check(need.memory, need.realloc); err != nil {
		return err
	}
	p.fn, p.target, p.sig = f, d.index, need.sig
	if name := s.itemNames[itemRef{sort: sortFunc, index: d.index}]; name != "" {
		p.label = name
	}
	return nil
}

func (v *validator) resourceBuiltin(s *scope, d *defCanon, p *canonPlan) error {
	r, err := s.resourceAt(d.index)
	if err != nil {
		return err
	}
	if d.op != canonResourceDrop && !s.local[r.res] {
		return fmt.Errorf("type index %d is not a local resource", d.index)
	}
	p.res, p.slot = r.res, s.plan.slot(r.res)
	p.label = d.op.String() + " " + r.res.name
	p.sig = &coreFuncType{params: []valueType{valI32}, results: []valueType{valI32}}
	if d.op == canonResourceDrop {
		p.sig = &coreFuncType{params: []valueType{valI32}}
	}
	return nil
}

func optName(code byte) string {
	return [...]string{"utf8", "utf16", "latin1-utf16", "memory", "realloc", "post-return", "async", "callback"}[code]
}

// options resolves canonical options and checks each for itself.
func (v *validator) options(s *scope, raw []rawCanonOpt) (canonOptions, error) {
	o := canonOptions{encoding: -1}
	seen := map[byte]bool{}
	for _, opt := range raw {
		if opt.code > optLatin1UTF16 && seen[opt.code] {
			return o, fmt.Errorf("canonical option `%s` is specified more than once", optName(opt.code))
		}
		seen[opt.code] = true
		if err := v.option(s, &o, opt); err != nil {
			return o, err
		}
	}
	o.encoding = max(o.encoding, 0)
	if o.callback != nil && !o.async {
		return o, fmt.Errorf("cannot specify callback without async")
	}
	if o.async && o.postReturn != nil {
		return o, fmt.Errorf("cannot specify post-return function in async")
	}
	return o, nil
}

func (v *validator) option(s *scope, o *canonOptions, opt rawCanonOpt) error {
	switch opt.code {
	case optUTF8, optUTF16, optLatin1UTF16:
		if o.encoding >= 0 {
			return fmt.Errorf("canonical encoding option `%s` conflicts with option `%s`", optName(byte(o.encoding)), optName(opt.code))
		}
		o.encoding = int(opt.code)
	case optMemory:
		m, err := s.coreAt(sortCoreMemory, opt.index)
		if err != nil {
			return err
		}
		if m.typ.memory.is64 {
			return fmt.Errorf("64-bit memories are not supported by this host")
		}
		o.memory = &m.ref
	case optAsync:
		o.async = true
	default:
		return v.funcOption(s, o, opt)
	}
	return nil
}

var (
	reallocType  = &coreFuncType{params: []valueType{valI32, valI32, valI32, valI32}, results: []valueType{valI32}}
	callbackType = &coreFuncType{params: []valueType{valI32, valI32, valI32}, results: []valueType{valI32}}
)

func (v *validator) funcOption(s *scope, o *canonOptions, opt rawCanonOpt) error {
	f, err := s.coreAt(sortCoreFunc, opt.index)
	if err != nil {
		return err
	}
	var want *coreFuncType
	switch opt.code {
	case optRealloc:
		o.realloc, want = &f.ref, reallocType
	case optCallback:
		o.callback, want = &f.ref, callbackType
	default:
		o.postReturn = &f.ref
	}
	if want != nil && !f.typ.fn.equal(want) {
		return fmt.Errorf("canonical option `%s` uses a core function with an incorrect signature", optName(opt.code))
	}
	return nil
}

// check holds the options against what a function needs.
func (o *canonOptions) check(memory, realloc bool) error {
	if o.realloc != nil && o.memory == nil {
		return fmt.Errorf("canonical option `realloc` requires `memory` to also be specified: canonical option `memory` is required")
	}
	if (memory || realloc) && o.memory == nil {
		return fmt.Errorf("canonical option `memory` is required")
	}
	if realloc && o.realloc == nil {
		return fmt.Errorf("canonical option `realloc` is required")
	}
	return nil
}
