package canon

// A Unit is nothing: the result of a function that returns none, and the payload
// of a case that has none.
type Unit struct{}

// Char is a Unicode scalar value, WIT's char.
type Char rune

// An Option is WIT's option<T>, for where a pointer would not do.
type Option[T any] struct {
	Some  bool
	Value T
}

// A Result is WIT's result<T, E>.
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

// An Own is an owning handle of a resource whose Go value is a T.
type Own[T any] struct{ Value T }

// A Borrow is a handle lent for the length of a call.
type Borrow[T any] struct{ Value T }
