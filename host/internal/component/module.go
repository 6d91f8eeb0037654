package component

import "fmt"

// coreModule is an embedded core module. Its imports are renamed to their
// positions (see rename), which is what instantiation links against.
type coreModule struct {
	position   int // among those of the binary
	at         int
	start, end int // in the component's binary
	typ        *moduleType
	// The import section: its id byte, its end (0 if there is none), and the
	// type of each import as it is written.
	importAt, importEnd int
	descs               [][]byte
	// memory is what its own memories and tables take at the start, in bytes.
	memory uint64
}

// moduleReader collects the parts of a core module that linking looks at. That
// its code is well-formed is for the core engine to say.
type moduleReader struct {
	r        *reader
	m        *coreModule
	types    []*coreFuncType
	funcs    []uint32
	tables   []tableType
	memories []limits
	globals  []globalType
	tags     []uint32
	seen     map[[2]string]bool
}

// coreSectionOrder ranks section ids as a module must have them.
var coreSectionOrder = map[byte]int{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 13: 6, 6: 7, 7: 8, 8: 9, 9: 10, 12: 11, 10: 12, 11: 13}

func readModule(data []byte, start, end int) (*coreModule, error) {
	m := &coreModule{at: start, start: start, end: end, typ: &moduleType{exports: map[string]coreExtern{}}}
	mr := &moduleReader{r: &reader{data: data, pos: start + preambleBytes, end: end}, m: m, seen: map[[2]string]bool{}}
	rank := 0
	for mr.r.more() {
		at := mr.r.pos
		id := mr.r.byte()
		s := mr.r.sub(mr.r.u32())
		if id != 0 {
			next, ok := coreSectionOrder[id]
			if !ok {
				mr.r.failAt(at, "malformed section id: %d in a core module", id)
			} else if next <= rank {
				mr.r.failAt(at, "section out of order in a core module")
			}
			rank = next
		}
		if mr.r.ok() {
			mr.section(id, at, s)
			mr.r.done(s)
		}
	}
	if mr.r.err != nil {
		return nil, mr.r.err
	}
	return m, nil
}

func (mr *moduleReader) section(id byte, at int, s *reader) {
	switch id {
	case 1:
		mr.each(s, func() { mr.types = append(mr.types, mr.recType(s)) })
	case 2:
		mr.m.importAt, mr.m.importEnd = at, s.end
		mr.each(s, func() { mr.importItem(s) })
	case 3:
		mr.each(s, func() { mr.funcs = append(mr.funcs, s.u32()) })
	case 4:
		mr.each(s, func() { mr.table(readTableType(s)) })
	case 5:
		mr.each(s, func() { mr.ownMemory(readLimits(s)) })
	case 6:
		mr.each(s, func() { mr.global(s) })
	case 7:
		mr.each(s, func() { mr.export(s) })
	case 13:
		mr.each(s, func() { s.byte(); mr.tags = append(mr.tags, s.u32()) })
	}
}

func (mr *moduleReader) table(t tableType) {
	const elementBytes = 8
	mr.tables = append(mr.tables, t)
	mr.m.memory += min(t.limits.min, 1<<32) * elementBytes
}

func (mr *moduleReader) ownMemory(l limits) {
	const pageBytes = 1 << 16
	mr.memories = append(mr.memories, l)
	mr.m.memory += min(l.min, 1<<32) * pageBytes
}

func (mr *moduleReader) each(s *reader, item func()) {
	for n := s.count("items"); n > 0 && s.ok(); n-- {
		item()
	}
}

// recType reads one type of a core module, where a non-final sub type has no
// prefix.
func (mr *moduleReader) recType(s *reader) *coreFuncType {
	b := s.byte()
	if b == 0x50 {
		return readSubType(s)
	}
	return readCompType(s, b)
}

func (mr *moduleReader) importItem(s *reader) {
	at := s.pos
	module, name := s.name(), s.name()
	from := s.pos
	raw := readCoreExtern(s)
	if !s.ok() {
		return
	}
	mr.m.descs = append(mr.m.descs, s.data[from:s.pos])
	if mr.seen[[2]string{module, name}] {
		s.failAt(at, "duplicate import name `%s:%s`", module, name)
		return
	}
	mr.seen[[2]string{module, name}] = true
	e, err := resolveCoreExtern(raw, mr.types)
	if err != nil {
		s.failAt(at, "%s", err)
		return
	}
	mr.m.typ.imports = append(mr.m.typ.imports, coreImport{module, name, e})
	switch raw.sort {
	case sortCoreFunc:
		mr.funcs = append(mr.funcs, raw.index)
	case sortCoreTable:
		mr.tables = append(mr.tables, raw.table)
	case sortCoreMemory:
		mr.memories = append(mr.memories, raw.memory)
	case sortCoreGlobal:
		mr.globals = append(mr.globals, raw.global)
	case sortCoreTag:
		mr.tags = append(mr.tags, raw.index)
	}
}

// global reads a global's type and skips its initializer.
func (mr *moduleReader) global(s *reader) {
	mr.globals = append(mr.globals, globalType{readValueType(s), s.boolean()})
	skipConstExpr(s)
}

// skipConstExpr skips a constant expression: instructions with their
// immediates up to the end.
func skipConstExpr(s *reader) {
	for s.ok() {
		switch op := s.byte(); op {
		case 0x0b:
			return
		case 0x23, 0xd2: // global.get, ref.func
			s.u32()
		case 0x41, 0x42, 0xd0: // i32.const, i64.const, ref.null
			skipLEB(s)
		case 0x43:
			s.sub(4)
		case 0x44:
			s.sub(8)
		case 0xfd: // v128.const
			s.u32()
			s.sub(16)
		case 0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e: // extended-const arithmetic
		default:
			s.failAt(s.pos-1, "constant expression required: opcode 0x%x", op)
		}
	}
}

func skipLEB(s *reader) {
	for i := 0; s.ok(); i++ {
		if b := s.byte(); b&0x80 == 0 {
			return
		} else if i == 9 {
			s.fail("integer representation too long")
		}
	}
}

func (mr *moduleReader) export(s *reader) {
	at := s.pos
	name, k, i := s.name(), sort(s.byte()), s.u32()
	if !s.ok() {
		return
	}
	if _, ok := mr.m.typ.exports[name]; ok {
		s.failAt(at, "duplicate export name `%s` already defined", name)
		return
	}
	e, err := mr.item(k, i)
	if err != nil {
		s.failAt(at, "%s", err)
		return
	}
	mr.m.typ.exports[name] = e
}

func (mr *moduleReader) item(k sort, i uint32) (coreExtern, error) {
	e := coreExtern{sort: k}
	var err error
	var typ uint32
	switch k {
	case sortCoreFunc, sortCoreTag:
		space := mr.funcs
		if k == sortCoreTag {
			space = mr.tags
		}
		if typ, err = at(space, i, k.String()); err == nil {
			e.fn, err = at(mr.types, typ, "type")
		}
	case sortCoreTable:
		e.table, err = at(mr.tables, i, "table")
	case sortCoreMemory:
		e.memory, err = at(mr.memories, i, "memory")
	case sortCoreGlobal:
		e.global, err = at(mr.globals, i, "global")
	default:
		err = fmt.Errorf("invalid leading byte (0x%x) for external kind", byte(k))
	}
	return e, err
}
