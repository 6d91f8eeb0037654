package host

import (
	"context"
	"time"
)

// LoadOptions say how a guest is to be compiled, and what it may use. The zero
// value is ready to use.
type LoadOptions struct {
	// Name is what messages call the guest.
	Name string
	// ComputeLimit bounds how long the guest may compute in one call; time that
	// it waits for the host does not count. Zero stands for no limit: the guest
	// then ends with the context of its call only.
	ComputeLimit time.Duration
	// MemoryLimit bounds the memory of each instance, in bytes. Defaults to 512
	// MiB; at most 4 GiB.
	MemoryLimit uint64
	// StrictRealloc forbids a guest to call any import while its allocator runs
	// on behalf of a call, as the Component Model has it. Without it the clock,
	// random numbers and polls pass, which guests with a garbage collector need.
	StrictRealloc bool
	// Progress, if given, is called each second while the guest is being
	// compiled.
	Progress func(Progress)
}

// Progress tells of a compilation that takes long.
type Progress struct {
	// Elapsed is for how long the guest has been compiled.
	Elapsed time.Duration
	// Functions is how many functions the guest has, and Bytes how large it is.
	Functions int
	Bytes     int
}

// Load checks and compiles a guest. The bytes are not kept. The error says what
// is wrong with them: see [NotCoreModuleError] and [LimitError]; a file that could not
// be compiled in time is [ErrCompileTimeout].
func (e *Engine) Load(ctx context.Context, wasm []byte, o LoadOptions) (*Guest, error) { panic("not yet") }

// A Guest is a compiled guest, of which any number of instances can be made.
type Guest struct{}

// Name is the name that the guest was loaded with.
func (g *Guest) Name() string { panic("not yet") }

// A FuncInfo is a function that a guest imports or exports.
type FuncInfo struct {
	// Module is the module that an import is from; for exports it is empty.
	Module string
	Name   string
	// Signature is the core type, as in "(i32, i32) -> (i32)".
	Signature string
}

// Imports are the functions that the guest imports, in the order of its file.
func (g *Guest) Imports() []FuncInfo { panic("not yet") }

// Exports are the functions that the guest exports, in the order of its file.
func (g *Guest) Exports() []FuncInfo { panic("not yet") }

// Close frees the compiled guest once its last instance is closed. No further
// instance can be made.
func (g *Guest) Close(ctx context.Context) error { panic("not yet") }
