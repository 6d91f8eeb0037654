package precheck

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// A Rewrite says how the module that the engine gets differs from the file.
type Rewrite struct {
	// Control lets the host interrupt the guest, and start it when it is ready
	// to: see [Rewritten].
	Control bool
	// Functions, if set, is the module that all functions are imported from
	// instead of their own, each by its number among them: "0", "1" and so on.
	// So the engine sees no name of the guest's, and need not tell two imports of
	// the same name apart.
	Functions string
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
	// Interrupt is the name of an exported global, an i32: once it is not zero,
	// the guest traps (unreachable). It is "" without [Rewrite.Control].
	Interrupt string
	// Yield is the index of the function that does so, for the engine's messages
	// to be read without it.
	Yield uint32
	// Start is the name under which the start function is exported. It is for
	// the host to call, once the instance is made: an engine would call it where
	// it cannot be interrupted. It is "" if there is none.
	Start string
}

// Rewrite makes the bytes for the engine. The same module gives the same bytes.
// Indices, and so the engine's messages, are those of the file. Custom sections
// are left out.
func (m *Module) Rewrite(o Rewrite) Rewritten {
	w := &rewriter{Module: m, Rewrite: o, Rewritten: Rewritten{Bytes: make([]byte, 0, len(m.data)+len(m.data)/16+64)}}
	if w.TableElements == 0 {
		w.TableElements = 10_000_000
	}
	if o.Control {
		w.control()
	}
	w.Bytes = append(w.Bytes, m.data[:headerSize]...)
	w.all()
	return w.Rewritten
}

// freeExport is a name that the module does not export.
func (m *Module) freeExport(name string) string {
	taken := map[string]bool{}
	for _, e := range m.exports {
		taken[e.Name] = true
	}
	free := name
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s %d", name, i)
	}
	return free
}

type rewriter struct {
	*Module
	Rewrite
	Rewritten
	meter
	exports [][]byte // to be added
}

// control plans what the host needs to control the guest.
func (w *rewriter) control() {
	w.meter = meter{
		fuel:      uint32(len(w.globals)),
		interrupt: uint32(len(w.globals)) + 1,
		table:     uint32(len(w.tables)),
		yield:     uint32(len(w.funcs)),
		yieldType: uint32(len(w.types)),
	}
	w.Yield = w.yield
	w.Interrupt = w.freeExport("host interrupt")
	w.exports = append(w.exports, exportItem(w.Interrupt, ExternGlobal, w.interrupt))
	if w.start >= 0 {
		w.Start = w.freeExport("host start")
		w.exports = append(w.exports, exportItem(w.Start, ExternFunc, uint32(w.start)))
	}
}

func exportItem(name string, k ExternKind, index uint32) []byte {
	b := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	return binary.AppendUvarint(append(b, byte(k)), uint64(index))
}

// all writes the sections in their order. The ones that checks need are made if
// the file lacks them.
func (w *rewriter) all() {
	needed := []byte{}
	if w.Control {
		needed = []byte{sectionType, sectionFunction, sectionTable, sectionGlobal, sectionExport, sectionCode}
	}
	for _, s := range w.sections {
		if s.id == sectionCustom || s.id == sectionStart && w.Control {
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
	w.Bytes = append(w.Bytes, s.id)
	at := w.gap()
	content := w.data[s.start:s.end]
	switch {
	case s.id == sectionImport && (w.EmptyModule != "" || w.Functions != ""):
		w.importSection()
	case s.id == sectionTable:
		w.tableSection()
	case !w.Control:
		w.Bytes = append(w.Bytes, content...)
	case s.id == sectionType:
		w.addItems(content, []byte{0x60, 0, 0})
	case s.id == sectionFunction:
		w.addItems(content, binary.AppendUvarint(nil, uint64(w.yieldType)))
	case s.id == sectionGlobal:
		w.addItems(content, globalItem, globalItem)
	case s.id == sectionExport:
		w.addItems(content, w.exports...)
	case s.id == sectionCode:
		w.codeSection()
	default:
		w.Bytes = append(w.Bytes, content...)
	}
	w.fill(at)
}

// gap leaves room for a size.
func (w *rewriter) gap() int {
	w.Bytes = append(w.Bytes, 0, 0, 0, 0, 0)
	return len(w.Bytes)
}

// fill writes the size of what came after the gap, in the shortest form.
func (w *rewriter) fill(at int) {
	size := len(w.Bytes) - at
	head := binary.AppendUvarint(w.Bytes[:at-binary.MaxVarintLen32], uint64(size))
	w.Bytes = append(head, w.Bytes[at:]...)
}

func (w *rewriter) u32(v uint32) { w.Bytes = binary.AppendUvarint(w.Bytes, uint64(v)) }

func (w *rewriter) str(s string) {
	w.u32(uint32(len(s)))
	w.Bytes = append(w.Bytes, s...)
}

// addItems copies a vector and adds items to it. A section that the file lacks is
// an empty vector.
func (w *rewriter) addItems(content []byte, items ...[]byte) {
	r := &reader{b: content, end: len(content)}
	var n uint32
	if len(content) > 0 {
		n = r.u32()
	}
	w.u32(n + uint32(len(items)))
	w.Bytes = append(w.Bytes, content[r.pos:]...)
	for _, item := range items {
		w.Bytes = append(w.Bytes, item...)
	}
}

func (w *rewriter) importSection() {
	w.u32(uint32(len(w.imports)))
	funcs := 0
	for _, imp := range w.imports {
		if imp.Module == "" {
			imp.Module = w.EmptyModule
		}
		if imp.Kind == ExternFunc && w.Functions != "" {
			imp.Module, imp.Name = w.Functions, strconv.Itoa(funcs)
		}
		w.str(imp.Module)
		w.str(imp.Name)
		w.Bytes = append(w.Bytes, byte(imp.Kind))
		switch imp.Kind {
		case ExternFunc:
			w.u32(w.funcs[funcs])
			funcs++
		case ExternTable:
			w.table(imp.Table)
		case ExternMemory:
			w.bounds(imp.Memory)
		case ExternGlobal:
			w.Bytes = append(w.Bytes, imp.Global.Type, mutability(imp.Global))
		}
	}
}

// globalItem is an i32 that begins at zero.
var globalItem = []byte{I32, 1, opI32Const, 0, opEnd}

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
	own := 0
	if w.Control {
		own = 1
	}
	w.u32(uint32(len(defined) + own))
	for _, t := range defined {
		most := max(uint32(min(w.TableElements/uint64(max(len(defined), 1)), maxTableElements)), t.Limits.Min)
		if !t.Limits.HasMax || t.Limits.Max > most {
			t.Limits.HasMax, t.Limits.Max = true, most
		}
		w.table(t)
	}
	if w.Control {
		w.table(Table{Type: FuncRef, Limits: Limits32{HasMax: true}})
	}
}

const maxTableElements = 1 << 27 // wazero's own limit

func (w *rewriter) table(t Table) {
	w.Bytes = append(w.Bytes, t.Type)
	w.bounds(t.Limits)
}

func (w *rewriter) bounds(l Limits32) {
	if !l.HasMax {
		w.Bytes = append(w.Bytes, 0)
		w.u32(l.Min)
		return
	}
	w.Bytes = append(w.Bytes, 1)
	w.u32(l.Min)
	w.u32(l.Max)
}
