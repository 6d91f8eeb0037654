package precheck

func (c *checker) typeSection() {
	n := c.count("types", maxTypes)
	c.types = make([]FuncType, 0, n)
	for i := 0; i < n && c.ok(); i++ {
		at := c.pos
		if b := c.byte(); b != 0x60 {
			c.fail(at, "type %d is not a function type (%#x)", i, b)
			return
		}
		t := FuncType{Params: c.valueTypes("parameters", maxParams), Results: c.valueTypes("results", maxResults)}
		c.typeValues += uint64(len(t.Params) + len(t.Results))
		c.over(at, "parameters and results of all types", c.typeValues, maxTypeValues)
		c.types = append(c.types, t)
	}
}

func (c *checker) valueTypes(what string, limit uint64) []ValueType {
	n := c.count(what, limit)
	at := c.pos
	for range n {
		c.valueType()
	}
	if !c.ok() {
		return nil
	}
	return c.b[at:c.pos]
}

func (c *checker) valueType() ValueType {
	at := c.pos
	t := c.byte()
	if c.ok() && !isValueType(t) {
		c.fail(at, "unknown value type %#x", t)
	}
	return t
}

func (c *checker) refType() ValueType {
	at := c.pos
	t := c.byte()
	if c.ok() && !isRefType(t) {
		c.fail(at, "unknown reference type %#x", t)
	}
	return t
}

// typeIndex reads the type of a function.
func (c *checker) typeIndex() uint32 {
	at := c.pos
	i := c.u32()
	if c.ok() && int64(i) >= int64(len(c.types)) {
		c.fail(at, "there is no type %d", i)
		return 0
	}
	return i
}

func (c *checker) importSection() {
	n := c.count("imports", maxImports)
	c.imports = make([]Import, 0, n)
	for i := 0; i < n && c.ok(); i++ {
		imp := Import{Module: c.name("the module of an import"), Name: c.name("the name of an import")}
		at := c.pos
		imp.Kind = ExternKind(c.byte())
		switch imp.Kind {
		case ExternFunc:
			t := c.typeIndex()
			if c.ok() {
				imp.Func = c.types[t].clone()
			}
			c.funcs = append(c.funcs, t)
			c.importedFuncs++
		case ExternTable:
			imp.Table = c.table()
		case ExternMemory:
			imp.Memory = c.memory()
		case ExternGlobal:
			imp.Global = c.global()
		default:
			c.fail(at, "unknown kind of import %#x", byte(imp.Kind))
		}
		c.imports = append(c.imports, imp)
	}
}

func (c *checker) functionSection() {
	c.defined = c.count("functions", maxFunctions)
	for i := 0; i < c.defined && c.ok(); i++ {
		c.funcs = append(c.funcs, c.typeIndex())
	}
}

func (c *checker) tableSection() {
	c.definedTables = c.count("tables", maxTables)
	for range c.definedTables {
		if c.left() > 0 && c.b[c.pos] == 0x40 {
			c.fail(c.pos, "a table with an initial value is not supported")
		}
		c.table()
	}
}

func (c *checker) table() Table {
	at := c.pos
	t := Table{Type: c.refType(), Limits: c.bounds()}
	c.tableSum += uint64(t.Limits.Min)
	c.over(at, "elements in tables", c.tableSum, c.limits.TableElements)
	c.tables = append(c.tables, t)
	return t
}

func (c *checker) memorySection() {
	for range c.count("memories", 1) {
		c.memory()
	}
}

func (c *checker) memory() Limits32 {
	at := c.pos
	l := c.bounds()
	if l.Max > maxPages || l.Min > maxPages {
		c.fail(at, "a memory of more than 4 GiB")
	}
	c.over(at, "pages of memory to start with", uint64(l.Min), uint64(c.limits.MemoryPages))
	c.memories = append(c.memories, l)
	c.over(at, "memories", uint64(len(c.memories)), 1)
	return l
}

const maxPages = 1 << 16

// bounds reads limits without the flags of later proposals.
func (c *checker) bounds() Limits32 {
	at := c.pos
	flag := c.byte()
	switch {
	case flag&^3 == 0 && flag >= 2:
		c.fail(at, "shared memories and tables are not supported")
	case flag > 3:
		c.fail(at, "unknown limits %#x", flag)
	}
	l := Limits32{Min: c.u32()}
	if flag == 1 {
		l.HasMax, l.Max = true, c.u32()
		if c.ok() && l.Max < l.Min {
			c.fail(at, "limits with a maximum (%d) below the minimum (%d)", l.Max, l.Min)
		}
	}
	return l
}

func (c *checker) global() Global {
	g := Global{Type: c.valueType()}
	at := c.pos
	mut := c.byte()
	if mut > 1 {
		c.fail(at, "unknown mutability %#x", mut)
	}
	g.Mutable = mut == 1
	c.globals = append(c.globals, g)
	return g
}

func (c *checker) globalSection() {
	for i, n := 0, c.count("globals", maxGlobals); i < n && c.ok(); i++ {
		c.global()
		c.constExpr()
	}
}

func (c *checker) exportSection() {
	n := c.count("exports", maxExports)
	c.exports = make([]Export, 0, n)
	c.exported = make(map[string]struct{}, n)
	for i := 0; i < n && c.ok(); i++ {
		c.export()
	}
	c.exported = nil
}

func (c *checker) export() {
	start := c.pos
	e := Export{Name: c.name("the name of an export")}
	if _, twice := c.exported[e.Name]; twice {
		c.fail(start, "a second export with the name %q", e.Name)
	}
	c.exported[e.Name] = struct{}{}
	at := c.pos
	e.Kind, e.Index = ExternKind(c.byte()), c.u32()
	if !c.ok() {
		return
	}
	if int(e.Kind) >= len(externNames) {
		c.fail(at, "unknown kind of export %#x", byte(e.Kind))
		return
	}
	if int64(e.Index) >= int64(c.spaceOf(e.Kind)) {
		c.fail(at, "there is no %s %d to export", e.Kind, e.Index)
		return
	}
	switch e.Kind {
	case ExternFunc:
		e.Func = c.types[c.funcs[e.Index]].clone()
	case ExternTable:
		e.Table = c.tables[e.Index]
	case ExternMemory:
		e.Memory = c.memories[e.Index]
	case ExternGlobal:
		e.Global = c.globals[e.Index]
	}
	c.exports = append(c.exports, e)
}

// spaceOf is the length of an index space.
func (c *checker) spaceOf(k ExternKind) int {
	switch k {
	case ExternFunc:
		return len(c.funcs)
	case ExternTable:
		return len(c.tables)
	case ExternMemory:
		return len(c.memories)
	default:
		return len(c.globals)
	}
}

// index reads an index into the space of k.
func (c *checker) index(k ExternKind) uint32 {
	at := c.pos
	i := c.u32()
	if c.ok() && int64(i) >= int64(c.spaceOf(k)) {
		c.fail(at, "there is no %s %d", k, i)
		return 0
	}
	return i
}

func (c *checker) startSection() {
	at := c.pos
	f := c.index(ExternFunc)
	if c.ok() && !c.types[c.funcs[f]].Equal(FuncType{}) {
		c.fail(at, "the start function has the type %s", c.types[c.funcs[f]])
	}
	c.start = int64(f)
}
