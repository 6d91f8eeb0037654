package canon

import "context"

// An Encoding is how a guest's strings lie in its memory.
type Encoding uint8

// The encodings of the canonical options.
const (
	UTF8 Encoding = iota
	UTF16
	Latin1OrUTF16
)

// A CoreFunc is a core function. wazero's api.Function is one; it takes the
// parameters from the stack and leaves the results there. Two of them must be
// comparable, as pointers are.
type CoreFunc interface {
	CallWithStack(ctx context.Context, stack []uint64) error
}

// A Memory is the linear memory of a guest.
type Memory interface {
	// View is the whole memory. It is valid until the guest runs again.
	View() []byte
}

// A Binding is the canonical options of one function, or of many with the same
// ones, in one instance. The fields may be set after calls have been linked, and
// before the first one is made.
type Binding struct {
	Instance *Instance
	Memory   Memory
	// Realloc is the guest's allocator. A function object of its own: it is
	// called while another one of the same guest is running.
	Realloc  CoreFunc
	Encoding Encoding
	// Resources fills the slots of resource types.
	Resources []*Resource
	// Fused says that the other side of the calls is a component too. It changes
	// the texts of traps, and the steps in which a string is allocated.
	Fused bool
}
