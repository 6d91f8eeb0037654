package precheck

// The instructions that the code below speaks of.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32LtS       = 0x48
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32Mul       = 0x6c
	opI32ShrU      = 0x76
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64Mul       = 0x7e
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opVector       = 0xfd

	miscTableGrow = 15
	vecConst      = 0x0c

	blockTypeEmpty = 0x40
)

// An immediate says what follows an instruction's opcode.
type immediate uint8

const (
	immUnknown immediate = iota // not an instruction
	immNone
	immControl // block, loop, if, else, end, br, br_if, br_table: see code.go
	immTypes   // the types of a select
	immLocal
	immGlobal
	immTable
	immFunc
	immIndirect // type, table
	immMemArg   // alignment, offset
	immMemory   // a zero byte
	immI32
	immI64
	immFour
	immEight
	immRefType
	immMisc
	immVector
	immLater // of a proposal that is not supported
)

var immediates = func() (t [256]immediate) {
	set := func(from, to int, i immediate) {
		for op := from; op <= to; op++ {
			t[op] = i
		}
	}
	set(0x00, 0x01, immNone) // unreachable, nop
	set(opBlock, opElse, immControl)
	set(0x06, 0x0a, immLater) // exceptions
	set(opEnd, opBrTable, immControl)
	set(0x0f, 0x0f, immNone) // return
	set(opCall, opCall, immFunc)
	set(opCallIndirect, opCallIndirect, immIndirect)
	set(0x12, 0x15, immLater) // tail calls, typed function references
	set(0x18, 0x19, immLater) // exceptions
	set(0x1a, 0x1b, immNone)  // drop, select
	set(opSelectTyped, opSelectTyped, immTypes)
	set(0x1f, 0x1f, immLater) // exceptions
	set(opLocalGet, opLocalTee, immLocal)
	set(opGlobalGet, opGlobalSet, immGlobal)
	set(0x25, 0x26, immTable)  // table.get, table.set
	set(0x28, 0x3e, immMemArg) // loads and stores
	set(0x3f, 0x40, immMemory) // memory.size, memory.grow
	t[opI32Const], t[opI64Const], t[opF32Const], t[opF64Const] = immI32, immI64, immFour, immEight
	set(0x45, 0xc4, immNone) // comparisons, arithmetic, conversions
	t[opRefNull], t[0xd1], t[opRefFunc] = immRefType, immNone, immFunc
	set(0xd3, 0xd6, immLater) // typed function references
	set(0xfb, 0xfb, immLater) // garbage collection
	t[opMisc], t[opVector] = immMisc, immVector
	set(0xfe, 0xfe, immLater) // threads
	return t
}()

// laterName says which proposal an unsupported instruction is of.
func laterName(op byte) string {
	switch {
	case op == 0x12 || op == 0x13:
		return "tail calls are"
	case op == 0xfe:
		return "threads are"
	case op == 0xfb:
		return "garbage collected types are"
	case op == 0x14 || op == 0x15 || op >= 0xd3:
		return "typed function references are"
	}
	return "exception handling is"
}

// misc reads what follows the prefix 0xfc: saturating conversions and bulk
// operations. It tells whether the instruction takes as long as a number on the
// stack says.
func (c *checker) misc() (bulk bool) {
	at := c.pos
	sub := c.u32()
	switch sub {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating conversions
	case 8: // memory.init
		c.dataIndex()
		c.memoryByte()
	case 9: // data.drop
		c.dataIndex()
	case 10: // memory.copy
		c.memoryByte()
		c.memoryByte()
	case 11: // memory.fill
		c.memoryByte()
	case 12: // table.init
		c.elementIndex()
		c.index(ExternTable)
	case 13: // elem.drop
		c.elementIndex()
	case 14: // table.copy
		c.index(ExternTable)
		c.index(ExternTable)
	case 15, 16, 17: // table.grow, table.size, table.fill
		c.index(ExternTable)
	default:
		c.fail(at, "unknown instruction 0xfc %#x", sub)
	}
	return sub == 8 || sub >= 10 && sub <= 12 || sub == 14 || sub == 17
}

// vector reads what follows the prefix 0xfd.
func (c *checker) vector() {
	at := c.pos
	sub := c.u32()
	switch {
	case sub <= 0x0b || sub == 0x5c || sub == 0x5d: // loads and stores
		c.memArg()
	case sub == vecConst || sub == 0x0d: // constant, shuffle
		c.skip(16)
	case sub >= 0x15 && sub <= 0x22: // lanes
		c.skip(1)
	case sub >= 0x54 && sub <= 0x5b: // loads and stores of lanes
		c.memArg()
		c.skip(1)
	case sub >= 0x100:
		c.fail(at, "relaxed vector instructions are not supported")
	}
}

func (c *checker) memArg() {
	at := c.pos
	if align := c.u32(); align > 4 {
		c.fail(at, "an alignment of 2^%d", align)
	}
	c.u32()
	c.needMemory(at)
}

func (c *checker) memoryByte() {
	at := c.pos
	if b := c.byte(); b != 0 {
		c.fail(at, "there is no memory %d", b)
	}
	c.needMemory(at)
}

func (c *checker) needMemory(at int) {
	if len(c.memories) == 0 {
		c.fail(at, "there is no memory")
	}
}

// dataIndex needs the data count section: the data section comes after the code.
func (c *checker) dataIndex() {
	at := c.pos
	if i := c.u32(); int64(i) >= c.dataCount {
		c.fail(at, "there is no data segment %d (by the data count section)", i)
	}
}

func (c *checker) elementIndex() {
	at := c.pos
	if i := c.u32(); int64(i) >= int64(c.elements) {
		c.fail(at, "there is no element segment %d", i)
	}
}
