// Package adapt makes a module of the standard Go toolchain ready to become a
// component.
//
// In a component an adapter stands between a module that imports WASI preview 1
// and a host that has WASI 0.2. It keeps a stack and some state in the module's
// memory. It asks the module's cabi_realloc for them or, where there is none,
// grows the memory. With Go neither goes well: the first request comes before the
// runtime has started, when no Go function can serve it, and the Go heap takes all
// memory that is grown for its own. But wit-component lets a module export a
// cabi_realloc_adapter that is for the adapter alone. This package adds one, which
// is not written in Go and hands out the pages that capsule/guest sets aside.
package adapt

import (
	"bytes"
	"errors"
	"fmt"
)

// export is the name by which wit-component knows the function.
const export = "cabi_realloc_adapter"

// Module returns the module with the function added. It is an error if the
// module is not made with capsule/guest, or already has the function.
func Module(wasm []byte) ([]byte, error) {
	out, err := adapt(wasm)
	if err != nil {
		return nil, fmt.Errorf("cannot make the module ready to be a component: %w", err)
	}
	return out, nil
}

func adapt(wasm []byte) ([]byte, error) {
	sections, err := split(wasm)
	if err != nil {
		return nil, err
	}
	m, err := survey(sections)
	if err != nil {
		return nil, err
	}
	items := m.additions()
	for i, s := range sections {
		item, ok := items[s.id]
		if !ok {
			continue
		}
		delete(items, s.id)
		if sections[i], err = s.extended(item); err != nil {
			return nil, err
		}
	}
	if len(items) > 0 {
		return nil, errors.New("it lacks a section that all Go modules have")
	}
	return join(sections), nil
}

// A module is what must be known of one to add a function: where its memory for
// the adapter is, and how many it has of what is counted.
type module struct {
	pages                              region
	types, imports, functions, globals uint32
}

func survey(sections []section) (m module, err error) {
	for _, s := range sections {
		r := reader{b: s.body}
		switch s.id {
		case sectionType:
			m.types = r.u32()
		case sectionImport:
			m.imports, err = imports(&r)
		case sectionFunction:
			m.functions = r.u32()
		case sectionGlobal:
			m.globals = r.u32()
		case sectionExport:
			if bytes.Contains(s.body, []byte(export)) {
				err = errors.New("it exports a " + export + " already")
			}
		case sectionData:
			m.pages, err = reserved(&r)
		}
		if err = errors.Join(err, r.err); err != nil {
			return module{}, err
		}
	}
	if m.pages.end == 0 {
		return module{}, errors.New("it has no memory for the adapter: capsule/guest sets some aside in a module for wasip1")
	}
	return m, nil
}

// imports counts the imported functions, and there must be nothing else that is
// imported.
func imports(r *reader) (n uint32, err error) {
	n = r.u32()
	for range n {
		r.bytes(r.u32())
		r.bytes(r.u32())
		if r.byte() != 0 {
			return 0, errors.New("it imports what is no function")
		}
		if r.u32(); r.err != nil {
			return 0, r.err
		}
	}
	return n, nil
}

// additions lists what is added to each section: a type, a function of it, a
// global in which the function counts, and an export.
func (m module) additions() map[byte][]byte {
	return map[byte][]byte{
		sectionType:     {0x60, 4, i32, i32, i32, i32, 1, i32},
		sectionFunction: uleb(nil, m.types),
		sectionGlobal:   append(constant([]byte{i32, 1}, m.pages.start), opEnd),
		sectionExport:   uleb(append(sized([]byte(export)), 0), m.imports+m.functions),
		sectionCode:     sized(allocate(m.globals, m.pages.end)),
	}
}
