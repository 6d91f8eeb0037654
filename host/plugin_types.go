package host

import "github.com/murmur-capsule/murmur/host/internal/canon"

// The Go types that stand for WIT types which Go has no type for. The others are:
// bool, the sized integers and floats; string; []T for list<T> and [n]T for
// list<T, n>; *T for option<T>; a struct for a record, its fields in order, each
// with the name of its tag (`wit:"log-path"`) or of the field in kebab case.
//
// A struct with the method WITTuple() is a tuple. One with WITVariant() is a
// variant, with one field a case: a bool, or a pointer to the payload; exactly one
// is set. An unsigned integer with the method WITEnum() []string is an enum, with
// WITFlags() []string it is flags.
type (
	// Unit is nothing: the result of a function that has none, and the payload
	// of a side of a [Result] that has none.
	Unit = canon.Unit
	// Char is char.
	Char = canon.Char
	// Option is option<T>, for where a pointer would not do.
	Option[T any] = canon.Option[T]
	// Result is result<T, E>.
	Result[T, E any] = canon.Result[T, E]
	// Map is map<K, V>, in the order in which it travels.
	Map[K, V any] = canon.Map[K, V]
	// MapEntry is one entry of a Map.
	MapEntry[K, V any] = canon.MapEntry[K, V]
	// Own is an owning handle of a [Resource]: the value, handed over. A function
	// that takes one must end its life, or keep it; a guest that gets one drops it.
	Own[T any] = canon.Own[T]
	// Borrow is a handle that is lent: its value must not be used after the call.
	Borrow[T any] = canon.Borrow[T]

	// EnumType, FlagsType, TupleType and VariantType are the methods that make
	// a Go type one of those of WIT.
	EnumType    = canon.EnumType
	FlagsType   = canon.FlagsType
	TupleType   = canon.TupleType
	VariantType = canon.VariantType
)

// Some is an option that holds v.
func Some[T any](v T) Option[T] { return canon.Some(v) }

// Ok is the good outcome of a result.
func Ok[T, E any](v T) Result[T, E] { return canon.Ok[T, E](v) }

// Fail is the bad outcome of a result.
func Fail[T, E any](e E) Result[T, E] { return canon.Fail[T](e) }
