package precheck

// A cost is what a function asks of wazero's compiler, which cannot be
// interrupted inside a function and is quadratic in more than one way.
type cost struct {
	blocks    int // basic blocks, roughly
	labels    int // of br_table
	locals    int // parameters included
	loopDepth int // how deeply loops are nested
}

// checkBlocks is how many blocks a check that Rewrite adds is to the compiler.
const checkBlocks = 3

// maxCompileTime bounds what one function may take to compile, by the estimate
// below, in nanoseconds. The functions of real modules stay below 0.6 s by it
// (the JavaScript engine of StarlingMonkey: 10,868 blocks; the TypeScript parser
// of swc: 2,980 blocks, 246 locals; Go's esbuild: 8,198 blocks, 5,490 labels).
const maxCompileTime = 10_000_000_000

// estimate is how long the function takes to compile at the worst, in
// nanoseconds, as measured with wazero 1.12 on a slow machine. The terms are for:
// the dominators, walked for each block; the branch targets of br_table; the
// values that are live over each edge, looked for among each other; and the
// parameters of loop headers, whose aliases are chased from loop to loop.
func (c *cost) estimate() float64 {
	blocks, labels, locals := float64(c.blocks), float64(c.labels), float64(c.locals)
	inLoops := float64(c.loopDepth) * locals
	dominators := 5*blocks*blocks + 7*9*float64(c.loopDepth)*float64(c.loopDepth)
	return dominators + 0.4*labels*labels + 1.5*(blocks+labels)*locals*locals + 2.5*inLoops*inLoops
}

// check refuses a function that would hold the compiler for too long.
func (c *cost) check(r *reader, at, index int) {
	if c.estimate() <= maxCompileTime {
		return
	}
	r.fail(at, "function %d is too complex to be compiled: %d branches, %d labels, %d locals, loops nested %d deep",
		index, c.blocks, c.labels, c.locals, c.loopDepth)
}
