package host

import "github.com/tetratelabs/wazero/experimental"

// A linearMemory is the memory of an instance. It is mapped once, at the size
// that it may grow to, of which the system gives only what is touched: so growing
// copies nothing, and closing gives everything back at once.
//
// wazero frees a module's memory when it closes the module, which happens while
// the guest runs (proc_exit). A host function that still looks at it would take
// the process down, so it is released by the instance, after its last call.
type linearMemory struct {
	limit   uint64
	mapping []byte // nil where it could not be mapped
	view    []byte
	// full tells that the guest asked for more than the limit.
	full bool
}

var _ experimental.LinearMemory = (*linearMemory)(nil)

// Allocate implements wazero's MemoryAllocator.
func (m *linearMemory) Allocate(_, most uint64) experimental.LinearMemory {
	m.mapping = mapMemory(min(most, m.limit))
	return m
}

// Reallocate grows the memory, or gives nil where it may not.
func (m *linearMemory) Reallocate(size uint64) []byte {
	switch {
	case size > m.limit:
		m.full = true
		return nil
	case m.mapping != nil:
		m.view = m.mapping[:size:size]
	case size > uint64(cap(m.view)):
		grown := make([]byte, size, min(m.limit, size+size/4))
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

// release gives the memory back. Nothing may look at it any more.
func (m *linearMemory) release() {
	if m.mapping != nil {
		unmapMemory(m.mapping)
	}
	m.mapping, m.view = nil, nil
}
