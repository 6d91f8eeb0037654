package precheck

// A body is one function body: where its expression is in the file, and what
// has to be known to compile it.
type body struct {
	start  int // the size before it
	expr   int // the instructions
	end    int
	locals int  // parameters included
	places int  // how many of the module's are in it
	calls  int  // how many instructions call
	bulk   bool // whether there is an instruction that moves memory or elements
}

// A place is where Rewrite adds to the code.
type place struct {
	at     uint32
	kind   placeKind
	weight uint16 // of a loop: what one round of it may cost
}

type placeKind uint8

const (
	placeLoop  placeKind = iota // the first instruction of a loop
	placeBulk                   // an instruction that moves as much as a number on the stack says
	placeMoved                  // the instruction after it
)

// An openLoop is a loop whose end has not been read.
type openLoop struct {
	place int // of the module's
	calls int // of the function's, before it
}

// A frame is a block that is open.
type frame uint8

const (
	frameBlock frame = iota // also the function itself
	frameLoop
	frameIf
	frameElse
)

func (c *checker) codeSection() {
	at := c.pos
	n := c.count("function bodies", maxFunctions)
	if c.ok() && n != c.defined {
		c.fail(at, "%d functions are announced, %d have a body", c.defined, n)
		return
	}
	c.bodies = make([]body, 0, n)
	for i := 0; i < n && c.ok(); i++ {
		c.body(i)
	}
}

func (c *checker) body(i int) {
	b := body{start: c.pos}
	size := c.u32()
	if c.over(b.start, "bytes in a function body", uint64(size), maxBodyBytes) {
		return
	}
	undo := c.reader.section(size)
	if !c.ok() {
		return
	}
	b.locals = c.locals(c.types[c.funcs[c.importedFuncs+i]])
	cost := cost{locals: b.locals}
	b.expr = c.pos
	c.expr(&b, &cost)
	b.end = c.pos
	if c.ok() && c.left() > 0 {
		c.fail(c.pos, "%d bytes follow the end of function %d", c.left(), c.importedFuncs+i)
	}
	cost.check(c.reader, b.start, c.importedFuncs+i)
	c.end = undo
	c.bodies = append(c.bodies, b)
}

// locals reads the declarations of locals and gives their number, parameters
// included.
func (c *checker) locals(t FuncType) int {
	sum := uint64(len(t.Params))
	at := c.pos
	n := c.count("groups of locals", maxLocals)
	for i := 0; i < n && c.ok(); i++ {
		at = c.pos
		sum += uint64(c.u32())
		c.valueType()
		c.over(at, "locals of a function", sum, maxLocals)
	}
	c.localSum += sum
	c.over(at, "locals of all functions", c.localSum, maxLocalsTotal)
	return int(sum)
}

// expr reads the instructions of a function, up to the end that closes it.
func (c *checker) expr(b *body, cost *cost) {
	c.frames = append(c.frames[:0], frameBlock)
	c.openLoops = c.openLoops[:0]
	c.calls = 0
	before := len(c.places)
	for c.ok() && len(c.frames) > 0 {
		at := c.pos
		op := c.byte()
		switch imm := immediates[op]; imm {
		case immNone:
		case immControl:
			c.control(at, op, cost)
		case immLocal:
			if i := c.u32(); int64(i) >= int64(b.locals) {
				c.fail(at, "there is no local %d", i)
			}
		case immFunc, immIndirect:
			if op != opRefFunc {
				c.calls++
			}
			c.immediate(at, op, imm)
		case immMisc:
			if c.misc() {
				b.bulk = true
				c.bulk(at, cost)
			}
		default:
			c.immediate(at, op, imm)
		}
	}
	b.places, b.calls = len(c.places)-before, c.calls
}

// bulk notes an instruction that moves memory or elements.
func (c *checker) bulk(at int, cost *cost) {
	c.place(at, placeBulk)
	c.place(c.pos, placeMoved)
	cost.blocks += checkBlocks
}

// place notes a place for Rewrite.
func (c *checker) place(at int, kind placeKind) {
	c.places = append(c.places, place{at: uint32(at), kind: kind})
	c.over(at, "loops and instructions that move memory", uint64(len(c.places)), maxPlaces)
}

func (c *checker) immediate(at int, op byte, imm immediate) {
	switch imm {
	case immI32:
		c.signed(32)
	case immMemArg:
		c.memArg()
	case immGlobal:
		c.index(ExternGlobal)
	case immFunc:
		c.index(ExternFunc)
	case immI64:
		c.signed(64)
	case immFour:
		c.skip(4)
	case immEight:
		c.skip(8)
	case immIndirect:
		c.typeIndex()
		c.index(ExternTable)
	case immTypes:
		c.valueTypes("types of a select", 1)
	case immTable:
		c.index(ExternTable)
	case immMemory:
		c.memoryByte()
	case immRefType:
		c.refType()
	case immVector:
		c.vector()
	case immLater:
		c.fail(at, "%s not supported (instruction %#x)", laterName(op), op)
	default:
		c.fail(at, "unknown instruction %#x", op)
	}
}

// control reads an instruction that opens, divides, closes or leaves a block.
func (c *checker) control(at int, op byte, cost *cost) {
	switch op {
	case opBlock:
		c.open(frameBlock)
		cost.blocks++
	case opLoop:
		c.open(frameLoop)
		c.loop(cost)
	case opIf:
		c.open(frameIf)
		cost.blocks += 3
	case opElse:
		top := len(c.frames) - 1
		if c.frames[top] != frameIf {
			c.fail(at, "an else without an if")
		}
		c.frames[top] = frameElse
	case opEnd:
		c.close()
	case opBr:
		c.label()
	case opBrIf:
		c.label()
		cost.blocks++
	case opBrTable:
		n := c.count("labels", maxBodyBytes)
		for i := 0; i <= n && c.ok(); i++ {
			c.label()
		}
		cost.labels += n
	}
}

func (c *checker) open(f frame) {
	at := c.pos
	if c.left() > 0 && (c.b[at] == blockTypeEmpty || isValueType(c.b[at])) {
		c.pos++
	} else if t := c.signed(33); c.ok() && (t < 0 || t >= int64(len(c.types))) {
		c.fail(at, "there is no type %d", t)
	}
	c.frames = append(c.frames, f)
	c.over(at, "nested blocks", uint64(len(c.frames)), maxNesting)
}

func (c *checker) loop(cost *cost) {
	c.openLoops = append(c.openLoops, openLoop{place: len(c.places), calls: c.calls})
	c.place(c.pos, placeLoop)
	cost.blocks += 2 + checkBlocks
	cost.loopDepth = max(cost.loopDepth, len(c.openLoops))
}

func (c *checker) close() {
	top := len(c.frames) - 1
	if c.frames[top] == frameLoop {
		last := len(c.openLoops) - 1
		loop := c.openLoops[last]
		p := &c.places[loop.place]
		p.weight = weightOf(c.pos-int(p.at), c.calls-loop.calls)
		c.openLoops = c.openLoops[:last]
	}
	c.frames = c.frames[:top]
}

// label reads how many blocks a branch leaves.
func (c *checker) label() {
	at := c.pos
	if l := c.u32(); int64(l) >= int64(len(c.frames)) {
		c.fail(at, "a branch out of %d blocks, where %d are open", uint64(l)+1, len(c.frames))
	}
}
