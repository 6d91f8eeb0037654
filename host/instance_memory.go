package host

import "github.com/tetratelabs/wazero/experimental"

// The memories of an instance share one limit.
type memories struct {
	limit, used uint64
	all         []*linearMemory
	// full tells that the guest asked for more than the limit.
	full bool
}

// Allocate implements wazero's MemoryAllocator.
func (m *memories) Allocate(_, most uint64) experimental.LinearMemory {
	l := &linearMemory{of: m, mapping: mapMemory(min(most, m.limit))}
	m.all = append(m.all, l)
	return l
}

// release gives the memories back. Nothing may look at them any more.
func (m *memories) release() {
	for _, l := range m.all {
		l.release()
	}
	m.all = nil
}

// reached is the limit, if the guest asked for more.
func (m *memories) reached() uint64 {
	if m.full {
		return m.limit
	}
	return 0
}

// A linearMemory is one memory of an instance. It is mapped once, at the size
// that it may grow to, of which the system gives only what is touched: so growing
// copies nothing, and closing gives everything back at once.
//
// wazero frees a module's memory when it closes the module, which happens while
// the guest runs (proc_exit). A host function that still looks at it would take
// the process down, so it is released by the instance, after its last call.
type linearMemory struct {
	of      *memories
	mapping []byte // nil where it could not be mapped
	view    []byte
}

var _ experimental.LinearMemory = (*linearMemory)(nil)

// Reallocate grows the memory, or gives nil where it may not.
func (m *linearMemory) Reallocate(size uint64) []byte {
	others := m.of.used - uint64(len(m.view))
	if size > m.of.limit || others > m.of.limit-size {
		m.of.full = true
		return nil
	}
	m.of.used = others + size
	switch {
	case m.mapping != nil:
		m.view = m.mapping[:size:size]
	case size > uint64(cap(m.view)):
		grown := make([]byte, size, min(m.of.limit, size+size/4))
		copy(grown, m.view)
		m.view = grown
	default:
		m.view = m.view[:size]
	}
	return m.view
}

// Free does nothing: see the type.
func (m *linearMemory) Free() {}

// View is the whole memory. It is valid until the guest runs again.
func (m *linearMemory) View() []byte { return m.view }

func (m *linearMemory) release() {
	if m.mapping != nil {
		unmapMemory(m.mapping)
	}
	m.mapping, m.view = nil, nil
}
