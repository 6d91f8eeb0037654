package precheck

// A Module is what the file says about itself. Types, and nothing else, alias
// the file.
type Module struct {
	data     []byte
	sections []section

	types     []FuncType
	imports   []Import
	funcs     []uint32 // type of each function, imported ones first
	tables    []Table
	memories  []Limits32
	globals   []Global
	exports   []Export
	start     int64 // -1 if there is none
	elements  int   // segments
	dataCount int64 // -1 if there is none
	bodies    []body
	places    []place // where Rewrite adds to the code, in order
	names     []byte  // the function names, as they are in the file

	importedFuncs, definedTables int
}

// A section is where a section's contents are in the file.
type section struct {
	id         byte
	start, end int
}

// Check reads a core module. The error is an [*Error], a [*LimitError] or a
// [*ComponentError].
func Check(data []byte, l Limits) (*Module, error) {
	l = l.withDefaults()
	r := &reader{b: data, end: len(data)}
	m := &Module{data: data, start: -1, dataCount: -1}
	if err := m.header(r); err != nil {
		return nil, err
	}
	if r.over(0, "bytes in the file", uint64(len(data)), l.FileBytes) {
		return nil, r.err
	}
	c := &checker{reader: r, Module: m, limits: l}
	for r.ok() && r.left() > 0 {
		c.section()
	}
	c.finish()
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}

// A checker is one run of Check.
type checker struct {
	*reader
	*Module
	limits Limits

	last       byte // rank of the last section
	customs    int
	typeValues uint64
	tableSum   uint64
	elementSum uint64
	localSum   uint64
	constRefs  uint64 // to functions and globals, in constant expressions
	defined    int    // functions announced by the function section
	exported   map[string]struct{}
	frames     []frame
	openLoops  []openLoop
	calls      int // of the function so far
}

// The sections, by their ids.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
	sectionTag
)

var sectionNames = [...]string{"custom", "type", "import", "function", "table", "memory", "global", "export",
	"start", "element", "code", "data", "data count", "tag"}

// sectionRanks is the order of the sections in a file.
var sectionRanks = [...]byte{
	sectionType: 1, sectionImport: 2, sectionFunction: 3, sectionTable: 4, sectionMemory: 5, sectionGlobal: 6,
	sectionExport: 7, sectionStart: 8, sectionElement: 9, sectionDataCount: 10, sectionCode: 11, sectionData: 12,
}

func (c *checker) section() {
	at := c.pos
	id := c.byte()
	if int(id) >= len(sectionNames) {
		c.fail(at, "unknown section %d", id)
		return
	}
	if id == sectionTag {
		c.fail(at, "exception handling is not supported")
		return
	}
	size := c.u32()
	undo := c.reader.section(size)
	if !c.ok() {
		return
	}
	c.order(at, id)
	c.sections = append(c.sections, section{id: id, start: c.pos, end: c.end})
	c.contents(id)
	if c.ok() && c.left() > 0 {
		c.fail(c.pos, "%d bytes are left at the end of the %s section", c.left(), sectionNames[id])
	}
	c.end = undo
}

func (c *checker) order(at int, id byte) {
	if id == sectionCustom {
		c.customs++
		c.over(at, "custom sections", uint64(c.customs), maxCustoms)
		return
	}
	rank := sectionRanks[id]
	switch {
	case rank == c.last:
		c.fail(at, "a second %s section", sectionNames[id])
	case rank < c.last:
		c.fail(at, "the %s section is out of order", sectionNames[id])
	}
	c.last = rank
}

func (c *checker) contents(id byte) {
	switch id {
	case sectionCustom:
		c.custom()
	case sectionType:
		c.typeSection()
	case sectionImport:
		c.importSection()
	case sectionFunction:
		c.functionSection()
	case sectionTable:
		c.tableSection()
	case sectionMemory:
		c.memorySection()
	case sectionGlobal:
		c.globalSection()
	case sectionExport:
		c.exportSection()
	case sectionStart:
		c.startSection()
	case sectionElement:
		c.elementSection()
	case sectionDataCount:
		c.Module.dataCount = int64(c.u32())
	case sectionCode:
		c.codeSection()
	case sectionData:
		c.dataSection()
	}
}

// finish looks at what only the whole file can tell.
func (c *checker) finish() {
	if c.ok() && len(c.bodies) != c.defined {
		c.fail(len(c.b), "%d functions are announced, %d have a body", c.defined, len(c.bodies))
	}
	if c.ok() && c.dataCount > 0 && c.last < sectionRanks[sectionData] {
		c.fail(len(c.b), "%d data segments are announced, there are none", c.dataCount)
	}
	c.over(len(c.b), "exports times functions", uint64(len(c.exports))*uint64(len(c.funcs)), maxFunctionExports)
	c.over(len(c.b), "imports times references to them", uint64(len(c.imports))*c.constRefs, maxImportReferences)
}

// Imports are what the module asks for, in the order of the file.
func (m *Module) Imports() []Import { return m.imports }

// Exports are what the module offers, in the order of the file.
func (m *Module) Exports() []Export { return m.exports }

// HasMemory tells whether the module has a memory, its own or an imported one.
func (m *Module) HasMemory() bool { return len(m.memories) > 0 }

// FunctionCount is how many functions the module defines.
func (m *Module) FunctionCount() int { return len(m.bodies) }
