package adapt

// i32 is the type of 32-bit numbers in wasm.
const i32 = 0x7f

// The instructions that allocate is made of.
const (
	opUnreachable = 0x00
	opIf          = 0x04
	opEnd         = 0x0b
	opLocalGet    = 0x20
	opLocalTee    = 0x22
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opConst       = 0x41
	opGreater     = 0x4b
	opAdd         = 0x6a
	opSub         = 0x6b
	opAnd         = 0x71
	opOr          = 0x72
	noResult      = 0x40
)

// allocate returns the body of a function (old, oldSize, align, size i32) i32
// that hands out memory upwards, from where the global points to, up to end. It
// traps if there is no more, or if old memory is to be enlarged: what has a fixed
// size asks once.
func allocate(global, end uint32) []byte {
	const oldSize, align, size, at = 1, 2, 3, 4
	b := []byte{1, 1, i32} // one local
	b = uleb(append(b, opGlobalGet), global)
	b = append(b,
		opLocalGet, align, opAdd, opConst, 1, opSub,
		opConst, 0, opLocalGet, align, opSub,
		opAnd, opLocalTee, at) // at = (global + align - 1) & -align
	b = append(constant(b, end), opGreater) // at > end
	b = constant(append(b, opLocalGet, size), end)
	b = append(b,
		opLocalGet, at, opSub, opGreater, opOr, // or size > end - at
		opLocalGet, oldSize, opOr,
		opIf, noResult, opUnreachable, opEnd,
		opLocalGet, at, opLocalGet, size, opAdd)
	b = uleb(append(b, opGlobalSet), global)
	return append(b, opLocalGet, at, opEnd)
}
