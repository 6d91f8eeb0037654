package canon

import "slices"

// Equal tells whether a and b are the same type: the same structure with the
// same names, and the same resources. Nil is the type of a missing payload.
func Equal(a, b *Type) bool {
	e := equality{}
	return e.types(a, b)
}

// EqualFuncs tells whether a and b are the same function type, names of
// parameters included.
func EqualFuncs(a, b *FuncType) bool {
	e := equality{}
	return e.types(a.Result, b.Result) && slices.EqualFunc(a.Params, b.Params, func(x, y Param) bool {
		return x.Name == y.Name && e.types(x.Type, y.Type)
	})
}

// An equality remembers the pairs that it has found to be equal: types share
// their parts, and a walk of every path would not end.
type equality map[[2]*Type]bool

func (e equality) types(a, b *Type) bool {
	if a == b || e[[2]*Type{a, b}] {
		return true
	}
	if a == nil || b == nil || !e.alike(a, b) {
		return false
	}
	e[[2]*Type{a, b}] = true
	return true
}

func (e equality) alike(a, b *Type) bool {
	return a.kind == b.kind && a.length == b.length && a.depth == b.depth &&
		sameResource(a.res, b.res) &&
		slices.Equal(a.labels, b.labels) &&
		slices.EqualFunc(a.fields, b.fields, func(x, y Field) bool { return x.Name == y.Name && e.types(x.Type, y.Type) }) &&
		slices.EqualFunc(a.cases, b.cases, func(x, y Case) bool { return x.Name == y.Name && e.types(x.Type, y.Type) }) &&
		e.types(a.elem, b.elem)
}

// sameResource tells whether two names of a resource are one: the same name, or
// the same resource behind it. Slots of one binding are told apart by number.
func sameResource(a, b *ResourceType) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	return a.Fixed == b.Fixed && (a.Fixed != nil || a.Slot == b.Slot)
}
