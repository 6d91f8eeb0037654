package canon

import (
	"fmt"
	"reflect"
	"unsafe"
)

// MaxDepth is how deep the types that a plan takes may nest.
const MaxDepth = 100

// A codec carries values of one component type between guest memory, or the core
// stack, and Go values of one Go type. It is made once, and knows every offset.
//
// The caller has checked that memory holds the whole value at p, aligned. The
// lanes are exactly those of the type's flat form; since the joined lanes of
// variants are wide enough for each case, their core types do not matter: a
// value narrower than 64 bits is in the low bits.
type codec interface {
	// load reads a Go value from guest memory. The Go value is zero before.
	load(c *Call, p uint32, dst unsafe.Pointer) error
	// store writes a Go value to guest memory.
	store(c *Call, p uint32, src unsafe.Pointer) error
	// lift reads a Go value from the stack. The Go value is zero before.
	lift(c *Call, lanes []uint64, dst unsafe.Pointer) error
	// lower writes a Go value to the stack, and sets every lane.
	lower(c *Call, lanes []uint64, src unsafe.Pointer) error
}

// A compiler makes codecs. One is used for all parts of a function, so that a
// type that occurs often is compiled once; types are shared without bound, and
// a tree of them may be far larger than what describes it.
type compiler struct {
	made map[pair]codec
	path []string
}

type pair struct {
	t *Type
	g reflect.Type
}

func newCompiler() *compiler { return &compiler{made: map[pair]codec{}} }

// compile makes the codec between t and Go values of type g.
func (k *compiler) compile(t *Type, g reflect.Type) (codec, error) {
	key := pair{t, g}
	if made, ok := k.made[key]; ok {
		return made, nil
	}
	made, err := k.make(t, g)
	if err == nil {
		k.made[key] = made
	}
	return made, err
}

func (k *compiler) make(t *Type, g reflect.Type) (codec, error) {
	switch t.kind {
	case KindStream, KindFuture, KindErrorContext:
		return nil, k.errorf("%s is asynchronous, which is not supported", t)
	}
	if t.depth > MaxDepth {
		return nil, k.errorf("a type nests deeper than %d", MaxDepth)
	}
	if t.Size() > MaxValueSize {
		return nil, k.errorf("a value of %d bytes is larger than the limit of %d", t.Size(), MaxValueSize)
	}
	if g == valueType {
		return k.dynamic(t)
	}
	switch t.kind {
	case KindString:
		return k.text(t, g)
	case KindList, KindMap:
		return k.list(t, g)
	case KindFixedList:
		return k.fixedList(t, g)
	case KindRecord, KindTuple:
		return k.record(t, g)
	case KindVariant:
		return k.variant(t, g)
	case KindEnum:
		return k.enum(t, g)
	case KindFlags:
		return k.flags(t, g)
	case KindOption:
		return k.option(t, g)
	case KindResult:
		return k.result(t, g)
	case KindOwn, KindBorrow:
		return k.handle(t, g)
	default:
		return k.scalar(t, g)
	}
}

// in compiles a part of a type; name says which, for messages.
func (k *compiler) in(name string, t *Type, g reflect.Type) (codec, error) {
	k.path = append(k.path, name)
	c, err := k.compile(t, g)
	k.path = k.path[:len(k.path)-1]
	return c, err
}

// A MismatchError says where a Go type does not fit a WIT type.
type MismatchError struct {
	// Path leads to the first difference, from the outside in.
	Path []string
	// What says how the types differ there.
	What string
}

// Error is the path and the difference.
func (e *MismatchError) Error() string {
	text := ""
	for i, p := range e.Path {
		if i > 0 {
			text += "."
		}
		text += p
	}
	if text == "" {
		return e.What
	}
	return text + ": " + e.What
}

func (k *compiler) errorf(format string, args ...any) error {
	return &MismatchError{Path: append([]string(nil), k.path...), What: fmt.Sprintf(format, args...)}
}

// mismatch says that g cannot hold t.
func (k *compiler) mismatch(t *Type, g reflect.Type) error {
	return k.errorf("a Go %s cannot hold WIT %s", g, t)
}
