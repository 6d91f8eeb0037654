package canon

import (
	"reflect"
	"unsafe"
)

// A Unit is nothing: the result of a function that returns none, and the payload
// of a side of a result that has none.
type Unit struct{}

// Char is a Unicode scalar value, WIT's char.
type Char rune

// An Option is WIT's option<T>, for where a pointer would not do.
type Option[T any] struct {
	Some  bool
	Value T
}

// Some is an option that holds v.
func Some[T any](v T) Option[T] { return Option[T]{Some: true, Value: v} }

// A Result is WIT's result<T, E>. A side that carries nothing is a [Unit].
type Result[T, E any] struct {
	IsErr bool
	OK    T
	Err   E
}

// Ok is the good outcome.
func Ok[T, E any](v T) Result[T, E] { return Result[T, E]{OK: v} }

// Fail is the bad outcome.
func Fail[T, E any](e E) Result[T, E] { return Result[T, E]{IsErr: true, Err: e} }

// A Map is WIT's map<K, V>, in the order in which it travels.
type Map[K, V any] []MapEntry[K, V]

// A MapEntry is one entry of a Map.
type MapEntry[K, V any] struct {
	Key   K
	Value V
}

// An Own is an owning handle of a resource whose Go value is a T. A function that
// takes one has the value for itself: whatever ends its life is then up to Go. One
// that returns one hands it over to the guest.
type Own[T any] struct{ Value T }

// A Borrow is a handle lent for the length of a call: its Value must not be used
// after the function that got it has returned.
type Borrow[T any] struct{ Value T }

// An EnumType is a Go unsigned integer that is a WIT enum, and knows the names
// of its cases.
type EnumType interface{ WITEnum() []string }

// A FlagsType is a Go unsigned integer that is WIT flags, and knows their names,
// that of the lowest bit first.
type FlagsType interface{ WITFlags() []string }

// A TupleType is a Go struct that is a WIT tuple, of its fields in order.
type TupleType interface{ WITTuple() }

// A VariantType is a Go struct that is a WIT variant: it has one field a case, in
// order, a bool for a case without a payload and a pointer to the payload for one
// with. Exactly one is set.
type VariantType interface{ WITVariant() }

// WITTuple says that an entry of a map travels as a tuple.
func (MapEntry[K, V]) WITTuple() {}

func (Option[T]) witOption()    {}
func (Result[T, E]) witResult() {}
func (Map[K, V]) witMap()       {}

func (Own[T]) handleOps() handleOps {
	return handleOps{
		own: true,
		of:  reflect.TypeFor[T](),
		put: func(p unsafe.Pointer, v any) (ok bool) {
			(*Own[T])(p).Value, ok = v.(T)
			return ok
		},
		take: func(p unsafe.Pointer) any { return (*Own[T])(p).Value },
	}
}

func (Borrow[T]) handleOps() handleOps {
	return handleOps{
		of: reflect.TypeFor[T](),
		put: func(p unsafe.Pointer, v any) (ok bool) {
			(*Borrow[T])(p).Value, ok = v.(T)
			return ok
		},
		take: func(p unsafe.Pointer) any { return (*Borrow[T])(p).Value },
	}
}

var (
	unitType   = reflect.TypeFor[Unit]()
	charType   = reflect.TypeFor[Char]()
	valueType  = reflect.TypeFor[Value]()
	optionType = reflect.TypeFor[interface{ witOption() }]()
	resultType = reflect.TypeFor[interface{ witResult() }]()
	mapType    = reflect.TypeFor[interface{ witMap() }]()
	handleType = reflect.TypeFor[handleGo]()
	enumType   = reflect.TypeFor[EnumType]()
	flagsType  = reflect.TypeFor[FlagsType]()

	tupleType   = reflect.TypeFor[TupleType]()
	variantType = reflect.TypeFor[VariantType]()
)

// isMarked tells whether a struct stands for something other than a record or a
// tuple.
func isMarked(g reflect.Type) bool {
	return g.Implements(optionType) || g.Implements(resultType) || g.Implements(handleType) || g.Implements(variantType)
}

// labelsOf is what a Go integer says of itself: the names of an enum or of flags.
// (A pointer to one, which is an option, has its methods too.)
func labelsOf(g reflect.Type) (Kind, []string) {
	switch {
	case g.Kind() == reflect.Pointer:
		return 0, nil
	case g.Implements(enumType):
		return KindEnum, reflect.Zero(g).Interface().(EnumType).WITEnum()
	case g.Implements(flagsType):
		return KindFlags, reflect.Zero(g).Interface().(FlagsType).WITFlags()
	default:
		return 0, nil
	}
}
