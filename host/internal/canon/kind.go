package canon

// A Kind tells the component value types apart.
type Kind uint8

// The kinds, in the order of the spec's value types.
const (
	KindBool Kind = iota + 1
	KindS8
	KindU8
	KindS16
	KindU16
	KindS32
	KindU32
	KindS64
	KindU64
	KindF32
	KindF64
	KindChar
	KindString
	KindList
	KindFixedList
	KindRecord
	KindTuple
	KindVariant
	KindEnum
	KindOption
	KindResult
	KindFlags
	KindMap
	KindOwn
	KindBorrow
	// The asynchronous types can be described, and are refused by every plan.
	KindStream
	KindFuture
	KindErrorContext
)

var kindNames = [...]string{
	KindBool: "bool", KindS8: "s8", KindU8: "u8", KindS16: "s16", KindU16: "u16",
	KindS32: "s32", KindU32: "u32", KindS64: "s64", KindU64: "u64", KindF32: "f32",
	KindF64: "f64", KindChar: "char", KindString: "string", KindList: "list",
	KindFixedList: "list", KindRecord: "record", KindTuple: "tuple",
	KindVariant: "variant", KindEnum: "enum", KindOption: "option",
	KindResult: "result", KindFlags: "flags", KindMap: "map", KindOwn: "own",
	KindBorrow: "borrow", KindStream: "stream", KindFuture: "future",
	KindErrorContext: "error-context",
}

// String is the kind's word in WIT.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "invalid type"
}

// scalarSizes holds the width in bytes of the kinds that are one number in
// memory and one core value on the stack.
var scalarSizes = [...]uint8{
	KindBool: 1, KindS8: 1, KindU8: 1, KindS16: 2, KindU16: 2, KindS32: 4,
	KindU32: 4, KindS64: 8, KindU64: 8, KindF32: 4, KindF64: 8, KindChar: 4,
	KindString: 0,
}

// scalarSize is the width of k, or 0 if k is not a scalar.
func scalarSize(k Kind) uint64 {
	if int(k) < len(scalarSizes) {
		return uint64(scalarSizes[k])
	}
	return 0
}
