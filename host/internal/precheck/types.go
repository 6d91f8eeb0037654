package precheck

import "strings"

// A ValueType is a core value type, in the encoding of the binary format, which
// is that of wazero's api.ValueType too.
type ValueType = byte

// The value types.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f
)

var valueTypeNames = map[ValueType]string{
	I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128", FuncRef: "funcref", ExternRef: "externref",
}

func isValueType(t byte) bool { return t >= V128 && t <= I32 || isRefType(t) }

func isRefType(t byte) bool { return t == FuncRef || t == ExternRef }

// A FuncType is the type of a core function.
type FuncType struct {
	Params, Results []ValueType
}

// String is the type as in "(i32, i64) -> (i32)".
func (t FuncType) String() string { return typeList(t.Params) + " -> " + typeList(t.Results) }

// Equal tells whether t and o are the same type.
func (t FuncType) Equal(o FuncType) bool {
	return string(t.Params) == string(o.Params) && string(t.Results) == string(o.Results)
}

func (t FuncType) clone() FuncType {
	return FuncType{Params: []ValueType(string(t.Params)), Results: []ValueType(string(t.Results))}
}

func typeList(ts []ValueType) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = valueTypeNames[t]
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// An ExternKind is what an import or export is.
type ExternKind byte

// The kinds, in the encoding of the binary format.
const (
	ExternFunc ExternKind = iota
	ExternTable
	ExternMemory
	ExternGlobal
)

var externNames = [...]string{"function", "table", "memory", "global"}

// String is the kind's word, as in "function".
func (k ExternKind) String() string {
	if int(k) < len(externNames) {
		return externNames[k]
	}
	return "unknown item"
}

// An Extern is the type of an import or export. Only the member of its kind is
// set.
type Extern struct {
	Kind   ExternKind
	Func   FuncType
	Table  Table
	Memory Limits32
	Global Global
}

// A Table is the type of a table.
type Table struct {
	Type   ValueType
	Limits Limits32
}

// Limits32 are the bounds of a table, in elements, or of a memory, in pages.
type Limits32 struct {
	Min    uint32
	Max    uint32
	HasMax bool
}

// A Global is the type of a global.
type Global struct {
	Type    ValueType
	Mutable bool
}

// An Import is one thing that a module asks for. Both names may be empty, and
// the same import may be there more than once.
type Import struct {
	Module, Name string
	Extern
}

// An Export is one thing that a module offers.
type Export struct {
	Name string
	// Index is where the thing is in the index space of its kind.
	Index uint32
	Extern
}
