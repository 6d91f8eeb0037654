package precheck

// elementSection reads element segments. The bits of their first number say
// which of eight forms they have.
func (c *checker) elementSection() {
	c.elements = c.count("element segments", maxSegments)
	for i := 0; i < c.elements && c.ok(); i++ {
		c.elementSegment()
	}
}

const (
	elemPassive  = 1 // or declarative, with elemExplicit
	elemExplicit = 2
	elemExprs    = 4
)

func (c *checker) elementSegment() {
	at := c.pos
	form := c.u32()
	if form > 7 {
		c.fail(at, "unknown form of element segment %d", form)
		return
	}
	if form&elemPassive == 0 {
		table := uint32(0)
		if form&elemExplicit != 0 {
			table = c.u32()
		}
		if c.ok() && int64(table) >= int64(len(c.tables)) {
			c.fail(at, "there is no table %d", table)
		}
		c.constExpr()
	}
	if form&(elemPassive|elemExplicit) != 0 {
		c.elementKind(form)
	}
	n := c.count("elements of a segment", maxElements)
	c.elementSum += uint64(n)
	c.over(at, "elements in segments", c.elementSum, maxElements)
	for i := 0; i < n && c.ok(); i++ {
		if form&elemExprs != 0 {
			c.constExpr()
		} else {
			c.index(ExternFunc)
		}
	}
}

func (c *checker) elementKind(form uint32) {
	if form&elemExprs != 0 {
		c.refType()
		return
	}
	at := c.pos
	if kind := c.byte(); kind != 0 {
		c.fail(at, "unknown kind of element %#x", kind)
	}
}

func (c *checker) dataSection() {
	at := c.pos
	n := c.count("data segments", maxSegments)
	if c.ok() && c.dataCount >= 0 && int64(n) != c.dataCount {
		c.fail(at, "%d data segments are announced, there are %d", c.dataCount, n)
	}
	for i := 0; i < n && c.ok(); i++ {
		c.dataSegment()
	}
}

func (c *checker) dataSegment() {
	at := c.pos
	form := c.u32()
	if form > 2 {
		c.fail(at, "unknown form of data segment %d", form)
		return
	}
	if form == 2 {
		c.index(ExternMemory)
	}
	if form != 1 {
		if len(c.memories) == 0 {
			c.fail(at, "a data segment without a memory")
		}
		c.constExpr()
	}
	c.bytes()
}

// constExpr reads a constant expression: it stops at the first thing that no
// such expression may hold.
func (c *checker) constExpr() {
	for range maxConstExprOps {
		at := c.pos
		switch op := c.byte(); op {
		case opEnd:
			return
		case opI32Const:
			c.signed(32)
		case opI64Const:
			c.signed(64)
		case opF32Const:
			c.skip(4)
		case opF64Const:
			c.skip(8)
		case opI32Add, opI32Sub, opI32Mul, opI64Add, opI64Sub, opI64Mul:
		case opGlobalGet:
			c.constRefs++
			c.index(ExternGlobal)
		case opRefNull:
			c.refType()
		case opRefFunc:
			c.constRefs++
			c.index(ExternFunc)
		case opVector:
			if c.u32() != vecConst {
				c.fail(at, "an instruction that no constant expression may hold")
			}
			c.skip(16)
		default:
			c.fail(at, "an instruction (%#x) that no constant expression may hold", op)
		}
		if !c.ok() {
			return
		}
	}
	c.over(c.pos, "instructions in a constant expression", maxConstExprOps+1, maxConstExprOps)
}
