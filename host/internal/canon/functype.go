package canon

import "slices"

// A FuncType is the type of a component function.
type FuncType struct {
	Params []Param
	// Result is nil for a function that returns nothing.
	Result *Type
}

// A Param is one parameter of a function.
type Param struct {
	Name string
	Type *Type
}

// A Signature is the type of a core function.
type Signature struct {
	Params, Results []CoreType
}

// Equal tells whether s and o are the same core function type.
func (s Signature) Equal(o Signature) bool {
	return slices.Equal(s.Params, o.Params) && slices.Equal(s.Results, o.Results)
}

// Lift is what the core function behind an export of type f looks like
// (flatten_functype with the context "lift").
func (f *FuncType) Lift() Signature {
	s := f.flatParams()
	if f.Result != nil {
		s.Results = f.Result.layout.flat.types
		if f.spillsResult() {
			s.Results = []CoreType{i32}
		}
	}
	return s
}

// Lower is what an import of type f looks like to the core module that imports
// it (flatten_functype with the context "lower").
func (f *FuncType) Lower() Signature {
	s := f.flatParams()
	switch {
	case f.Result == nil:
	case f.spillsResult():
		s.Params = append(slices.Clip(s.Params), i32)
	default:
		s.Results = f.Result.layout.flat.types
	}
	return s
}

func (f *FuncType) flatParams() Signature {
	all := f.paramFlat()
	if all.long {
		return Signature{Params: []CoreType{i32}}
	}
	return Signature{Params: all.types}
}

func (f *FuncType) paramFlat() flat {
	var all flat
	for _, p := range f.Params {
		all.append(p.Type.layout.flat)
	}
	return all
}

func (f *FuncType) spillsResult() bool {
	fl := f.Result.layout.flat
	return fl.long || len(fl.types) > MaxFlatResults
}
