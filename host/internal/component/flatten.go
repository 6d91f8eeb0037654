package component

const (
	maxFlatParams      = 16
	maxFlatAsyncParams = 4
	maxFlatResults     = 1
)

// needs is what a lift or lower asks of its options and its core function
// (CanonicalABI.md, flattening).
type needs struct {
	sig             *coreFuncType
	memory, realloc bool
}

// liftNeeds: parameters are lowered into the callee, the result lifted from it.
func liftNeeds(f *funcType, o canonOptions) needs {
	params, spill := flatParams(f, maxFlatParams)
	n := needs{sig: &coreFuncType{params: params}}
	n.realloc = spill || anyPointers(f.params)
	n.memory = n.realloc
	if o.async {
		// The result of an async lift goes through task.return.
		if o.callback != nil {
			n.sig.results = []valueType{valI32}
		}
		return n
	}
	results, spill := flatResult(f)
	if spill {
		results = []valueType{valI32}
	}
	n.memory = n.memory || spill || f.result != nil && f.result.pointers()
	n.sig.results = results
	return n
}

// lowerNeeds: parameters are lifted from the caller, the result lowered into it.
func lowerNeeds(f *funcType, o canonOptions) needs {
	limit := maxFlatParams
	if o.async {
		limit = maxFlatAsyncParams
	}
	params, spill := flatParams(f, limit)
	n := needs{memory: spill || anyPointers(f.params)}
	results, spill := flatResult(f)
	if spill || o.async && f.result != nil {
		params, results = append(params, valI32), nil
		n.memory = true
	}
	if o.async {
		results = []valueType{valI32}
	}
	n.realloc = f.result != nil && f.result.pointers()
	n.memory = n.memory || n.realloc
	n.sig = &coreFuncType{params: params, results: results}
	return n
}

func anyPointers(fields []field) bool {
	for _, f := range fields {
		if f.typ != nil && f.typ.pointers() {
			return true
		}
	}
	return false
}

// pointers says whether values of the type hold strings or lists.
func (v *valType) pointers() bool {
	switch v.kind() {
	case kindString, kindList, kindMap, kindErrorContext:
		return v.kind() != kindErrorContext
	}
	found := false
	if v.def != nil {
		v.def.eachPart(func(p *valType) { found = found || p.pointers() })
		if v.def.kind == kindStream || v.def.kind == kindFuture {
			return false
		}
	}
	return found
}

func flatParams(f *funcType, limit int) (types []valueType, spill bool) {
	for _, p := range f.params {
		if types = appendFlat(types, p.typ, limit); len(types) > limit {
			return []valueType{valI32}, true
		}
	}
	return types, false
}

func flatResult(f *funcType) (types []valueType, spill bool) {
	if f.result == nil {
		return nil, false
	}
	types = appendFlat(nil, f.result, maxFlatResults)
	if len(types) > maxFlatResults {
		return nil, true
	}
	return types, false
}

// appendFlat adds the core types of t; it stops once there are more than limit.
func appendFlat(types []valueType, t *valType, limit int) []valueType {
	if len(types) > limit {
		return types
	}
	switch t.kind() {
	case kindS64, kindU64:
		return append(types, valI64)
	case kindF32:
		return append(types, valF32)
	case kindF64:
		return append(types, valF64)
	case kindString, kindList, kindMap:
		return append(types, valI32, valI32)
	case kindRecord, kindTuple:
		t.def.eachPart(func(p *valType) { types = appendFlat(types, p, limit) })
		return types
	case kindFixedList:
		for i := uint32(0); i < t.def.length && len(types) <= limit; i++ {
			types = appendFlat(types, t.def.elem, limit)
		}
		return types
	case kindVariant, kindOption, kindResult:
		return appendVariant(types, t.def, limit)
	}
	return append(types, valI32)
}

func appendVariant(types []valueType, d *valueDef, limit int) []valueType {
	types = append(types, valI32)
	start := len(types)
	d.eachPart(func(p *valType) {
		for i, t := range appendFlat(nil, p, limit) {
			if at := start + i; at < len(types) {
				types[at] = joinFlat(types[at], t)
			} else {
				types = append(types, t)
			}
		}
	})
	return types
}

func joinFlat(a, b valueType) valueType {
	switch {
	case a == b:
		return a
	case a == valI32 && b == valF32, a == valF32 && b == valI32:
		return valI32
	}
	return valI64
}
