package precheck

import (
	"encoding/binary"
	"fmt"
)

// A Rewrite says how the module that the engine gets differs from the file.
type Rewrite struct {
	// Interrupt adds a check to every loop, and to every function that calls
	// another: where the global that [Rewritten.Interrupt] names is not zero, the
	// guest traps (unreachable). The host sets it to end a guest that runs. A
	// check costs a load and a branch that is never taken.
	Interrupt bool
	// EmptyModule is what the module name "" of imports is replaced with, which
	// wazero does not accept. Empty stands for leaving it.
	EmptyModule string
	// TableElements bounds what all tables together may grow to. Zero stands for
	// 10,000,000, which is 80 MB.
	TableElements uint64
}

// Rewritten is a module for the engine.
type Rewritten struct {
	Bytes []byte
	// Interrupt is the name of the exported global that interrupts the guest, an
	// i32, or "".
	Interrupt string
}

// Rewrite makes the bytes for the engine. The same module gives the same bytes.
// Indices, and so the engine's messages, are those of the file. Custom sections
// are left out.
func (m *Module) Rewrite(o Rewrite) Rewritten {
	w := &rewriter{Module: m, Rewrite: o, out: make([]byte, 0, len(m.data)+len(m.data)/16+64)}
	if w.TableElements == 0 {
		w.TableElements = 10_000_000
	}
	if o.Interrupt {
		w.global = uint32(len(m.globals))
		w.name = m.freeExport()
	}
	w.out = append(w.out, m.data[:headerSize]...)
	w.all()
	return Rewritten{Bytes: w.out, Interrupt: w.name}
}

// freeExport is a name that the module does not export.
func (m *Module) freeExport() string {
	taken := map[string]bool{}
	for _, e := range m.exports {
		taken[e.Name] = true
	}
	name := "murmur interrupt"
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("murmur interrupt %d", i)
	}
	return name
}

type rewriter struct {
	*Module
	Rewrite
	out    []byte
	global uint32
	name   string
}

// all writes the sections in their order. The ones that checks need are made if
// the file lacks them.
func (w *rewriter) all() {
	needed := []byte{}
	if w.Interrupt {
		needed = []byte{sectionGlobal, sectionExport}
	}
	for _, s := range w.sections {
		if s.id == sectionCustom {
			continue
		}
		for len(needed) > 0 && sectionRanks[needed[0]] < sectionRanks[s.id] {
			w.write(section{id: needed[0]})
			needed = needed[1:]
		}
		if len(needed) > 0 && needed[0] == s.id {
			needed = needed[1:]
		}
		w.write(s)
	}
	for _, id := range needed {
		w.write(section{id: id})
	}
}

// write writes one section. Its size comes before it, so it is written behind a
// gap of the widest size, and then moved.
func (w *rewriter) write(s section) {
	w.out = append(w.out, s.id)
	at := w.gap()
	content := w.data[s.start:s.end]
	switch {
	case s.id == sectionImport && w.EmptyModule != "":
		w.importSection()
	case s.id == sectionTable:
		w.tableSection()
	case s.id == sectionGlobal && w.Interrupt:
		w.addItem(content, w.interruptGlobal())
	case s.id == sectionExport && w.Interrupt:
		w.addItem(content, w.interruptExport())
	case s.id == sectionCode && w.Interrupt:
		w.codeSection()
	default:
		w.out = append(w.out, content...)
	}
	w.fill(at)
}

// gap leaves room for a size.
func (w *rewriter) gap() int {
	w.out = append(w.out, 0, 0, 0, 0, 0)
	return len(w.out)
}

// fill writes the size of what came after the gap, in the shortest form.
func (w *rewriter) fill(at int) {
	size := len(w.out) - at
	head := binary.AppendUvarint(w.out[:at-binary.MaxVarintLen32], uint64(size))
	w.out = append(head, w.out[at:]...)
}

func (w *rewriter) u32(v uint32) { w.out = binary.AppendUvarint(w.out, uint64(v)) }

func (w *rewriter) str(s string) {
	w.u32(uint32(len(s)))
	w.out = append(w.out, s...)
}

// addItem copies a vector and adds an item to it. A section that the file lacks
// is an empty vector.
func (w *rewriter) addItem(content, item []byte) {
	r := &reader{b: content, end: len(content)}
	var n uint32
	if len(content) > 0 {
		n = r.u32()
	}
	w.u32(n + 1)
	w.out = append(w.out, content[r.pos:]...)
	w.out = append(w.out, item...)
}

func (w *rewriter) interruptGlobal() []byte { return []byte{I32, 1, opI32Const, 0, opEnd} }

func (w *rewriter) interruptExport() []byte {
	b := append(binary.AppendUvarint(nil, uint64(len(w.name))), w.name...)
	return binary.AppendUvarint(append(b, byte(ExternGlobal)), uint64(w.global))
}

func (w *rewriter) importSection() {
	w.u32(uint32(len(w.imports)))
	funcs := w.funcs
	for _, imp := range w.imports {
		if imp.Module == "" {
			imp.Module = w.EmptyModule
		}
		w.str(imp.Module)
		w.str(imp.Name)
		w.out = append(w.out, byte(imp.Kind))
		switch imp.Kind {
		case ExternFunc:
			w.u32(funcs[0])
			funcs = funcs[1:]
		case ExternTable:
			w.table(imp.Table)
		case ExternMemory:
			w.bounds(imp.Memory)
		case ExternGlobal:
			w.out = append(w.out, imp.Global.Type, mutability(imp.Global))
		}
	}
}

func mutability(g Global) byte {
	if g.Mutable {
		return 1
	}
	return 0
}

// tableSection gives every table a maximum, so that a guest cannot make the host
// hold more.
func (w *rewriter) tableSection() {
	defined := w.tables[len(w.tables)-w.definedTables:]
	w.u32(uint32(len(defined)))
	for _, t := range defined {
		most := max(uint32(min(w.TableElements/uint64(len(defined)), maxTableElements)), t.Limits.Min)
		if !t.Limits.HasMax || t.Limits.Max > most {
			t.Limits.HasMax, t.Limits.Max = true, most
		}
		w.table(t)
	}
}

const maxTableElements = 1 << 27 // wazero's own limit

func (w *rewriter) table(t Table) {
	w.out = append(w.out, t.Type)
	w.bounds(t.Limits)
}

func (w *rewriter) bounds(l Limits32) {
	if !l.HasMax {
		w.out = append(w.out, 0)
		w.u32(l.Min)
		return
	}
	w.out = append(w.out, 1)
	w.u32(l.Min)
	w.u32(l.Max)
}

func (w *rewriter) codeSection() {
	check := w.check()
	loops := w.loops
	w.u32(uint32(len(w.bodies)))
	for _, b := range w.bodies {
		w.body(b, loops[:b.loops], check)
		loops = loops[b.loops:]
	}
}

// check is the instructions that end the guest where the global is set.
func (w *rewriter) check() []byte {
	b := binary.AppendUvarint([]byte{opGlobalGet}, uint64(w.global))
	return append(b, opIf, blockTypeEmpty, opUnreachable, opEnd)
}

func (w *rewriter) body(b body, loops []uint32, check []byte) {
	r := &reader{b: w.data, pos: b.start, end: b.end}
	r.u32() // its size
	at := w.gap()
	w.out = append(w.out, w.data[r.pos:b.expr]...)
	from := b.expr
	if b.calls {
		w.out = append(w.out, check...)
	}
	for _, l := range loops {
		w.out = append(w.out, w.data[from:l]...)
		w.out = append(w.out, check...)
		from = int(l)
	}
	w.out = append(w.out, w.data[from:b.end]...)
	w.fill(at)
}
