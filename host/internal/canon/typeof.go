package canon

import (
	"fmt"
	"reflect"
)

// Resources tells which resource a Go type is the value of: what own and borrow
// handles of it are of.
type Resources map[reflect.Type]*ResourceType

// TypeOf is the component type that a Go type stands for:
//
//	bool, int8 … int64, uint8 … uint64, float32, float64   the like
//	Char                                                   char
//	string                                                 string
//	[]T                                                    list<T>
//	[n]T                                                   list<T, n>
//	Map[K, V]                                              map<K, V>
//	*T, Option[T]                                          option<T>
//	Result[T, E]                                           result<T, E>
//	an integer with WITEnum or WITFlags                    enum, flags
//	Own[T], Borrow[T]                                      own, borrow
//	a struct                                               record
//
// The fields of a record have the names of their tags (`wit:"log-path"`) or
// those of Go in kebab case. A [TupleType] is a tuple instead, a [VariantType] a
// variant.
func TypeOf(g reflect.Type, res Resources) (*Type, error) {
	d := deriver{res: res, made: map[reflect.Type]*Type{}}
	t, err := d.typeOf(g, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot tell the WIT type of Go %s: %w", g, err)
	}
	return t, nil
}

type deriver struct {
	res  Resources
	made map[reflect.Type]*Type
}

var primOfKind = map[reflect.Kind]Kind{
	reflect.Bool: KindBool, reflect.String: KindString,
	reflect.Int8: KindS8, reflect.Int16: KindS16, reflect.Int32: KindS32, reflect.Int64: KindS64,
	reflect.Uint8: KindU8, reflect.Uint16: KindU16, reflect.Uint32: KindU32, reflect.Uint64: KindU64,
	reflect.Float32: KindF32, reflect.Float64: KindF64,
}

func (d *deriver) typeOf(g reflect.Type, depth int) (*Type, error) {
	if t, ok := d.made[g]; ok {
		return t, nil
	}
	if depth > MaxDepth {
		return nil, fmt.Errorf("%s nests deeper than %d", g, MaxDepth)
	}
	t, err := d.derive(g, depth+1)
	if err == nil {
		d.made[g] = t
	}
	return t, err
}

func (d *deriver) derive(g reflect.Type, depth int) (*Type, error) {
	if g == charType {
		return Prim(KindChar), nil
	}
	if kind, labels := labelsOf(g); labels != nil {
		return d.named(kind, labels, g)
	}
	if k, ok := primOfKind[g.Kind()]; ok {
		return Prim(k), nil
	}
	switch g.Kind() {
	case reflect.Pointer:
		return d.wrap(g.Elem(), depth, OptionOf)
	case reflect.Slice:
		return d.slice(g, depth)
	case reflect.Array:
		if g.Len() == 0 {
			return nil, fmt.Errorf("a list of fixed length must have an element, %s has none", g)
		}
		return d.wrap(g.Elem(), depth, func(t *Type) *Type { return FixedListOf(t, uint32(g.Len())) })
	case reflect.Struct:
		return d.structure(g, depth)
	default:
		return nil, fmt.Errorf("there is none for %s", g)
	}
}

func (d *deriver) wrap(elem reflect.Type, depth int, of func(*Type) *Type) (*Type, error) {
	t, err := d.typeOf(elem, depth)
	if err != nil {
		return nil, err
	}
	return of(t), nil
}

func (d *deriver) named(kind Kind, labels []string, g reflect.Type) (*Type, error) {
	if _, ok := goUintOf(g); !ok {
		return nil, fmt.Errorf("%s has names, and is no unsigned integer of 8, 16 or 32 bits", g)
	}
	if kind == KindFlags {
		return FlagsOf(labels...), nil
	}
	return EnumOf(labels...), nil
}

func (d *deriver) slice(g reflect.Type, depth int) (*Type, error) {
	if !g.Implements(mapType) {
		return d.wrap(g.Elem(), depth, ListOf)
	}
	entry, err := d.typeOf(g.Elem(), depth)
	if err != nil {
		return nil, err
	}
	return MapOf(entry.fields[0].Type, entry.fields[1].Type), nil
}

func (d *deriver) structure(g reflect.Type, depth int) (*Type, error) {
	switch {
	case g.Implements(optionType):
		return d.wrap(g.Field(1).Type, depth, OptionOf)
	case g.Implements(resultType):
		return d.result(g, depth)
	case g.Implements(handleType):
		return d.handle(g)
	}
	fields := fieldsOf(g)
	switch {
	case len(fields) == 0:
		return nil, fmt.Errorf("struct %s has no fields", g)
	case g.Implements(variantType):
		return d.variant(fields, depth)
	default:
		return d.record(fields, g.Implements(tupleType), depth)
	}
}

func (d *deriver) record(fields []reflect.StructField, tuple bool, depth int) (*Type, error) {
	parts := make([]Field, len(fields))
	types := make([]*Type, len(fields))
	for i, f := range fields {
		t, err := d.typeOf(f.Type, depth)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		parts[i], types[i] = Field{Name: witName(f), Type: t}, t
	}
	if tuple {
		return TupleOf(types...), nil
	}
	return RecordOf(parts...), nil
}

func (d *deriver) variant(fields []reflect.StructField, depth int) (*Type, error) {
	cases := make([]Case, len(fields))
	for i, f := range fields {
		cases[i].Name = witName(f)
		switch f.Type.Kind() {
		case reflect.Bool:
		case reflect.Pointer:
			t, err := d.typeOf(f.Type.Elem(), depth)
			if err != nil {
				return nil, fmt.Errorf("case %s: %w", f.Name, err)
			}
			cases[i].Type = t
		default:
			return nil, fmt.Errorf("case %s is a %s, and must be a bool or a pointer", f.Name, f.Type)
		}
	}
	return VariantOf(cases...), nil
}

func (d *deriver) result(g reflect.Type, depth int) (*Type, error) {
	var sides [2]*Type
	for i := range sides {
		f := g.Field(1 + i)
		if f.Type == unitType {
			continue
		}
		t, err := d.typeOf(f.Type, depth)
		if err != nil {
			return nil, err
		}
		sides[i] = t
	}
	return ResultOf(sides[0], sides[1]), nil
}

func (d *deriver) handle(g reflect.Type) (*Type, error) {
	ops := reflect.Zero(g).Interface().(handleGo).handleOps()
	res := d.res[ops.of]
	switch {
	case res == nil:
		return nil, fmt.Errorf("no resource is defined for %s", ops.of)
	case ops.own:
		return OwnOf(res), nil
	default:
		return BorrowOf(res), nil
	}
}
