package host

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/murmur-capsule/murmur/host/internal/component"
	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

// LoadOptions say how a guest is to be compiled, and what it may use. The zero
// value is ready to use.
type LoadOptions struct {
	// Name is what messages call the guest. Defaults to "guest".
	Name string
	// ComputeLimit bounds how long the guest may compute in one call; time that
	// it waits for the host does not count. Zero stands for no limit: the guest
	// then ends with the context of its call only.
	ComputeLimit time.Duration
	// MemoryLimit bounds the memory of each instance, in bytes. Defaults to 512
	// MiB; at most 4 GiB.
	MemoryLimit uint64
	// StrictRealloc forbids a guest to call any import while its allocator runs
	// on behalf of a call, as the Component Model has it. Without it the functions
	// that are made with [DuringRealloc] pass, the clock, random numbers and polls
	// among them, which guests with a garbage collector need. WASI preview 1 is
	// not of the Component Model and always passes.
	StrictRealloc bool
	// Progress, if given, is called each second while the guest is being
	// compiled.
	Progress func(Progress)
}

// DefaultMemoryLimit is what an instance's memory is bounded to where
// [LoadOptions.MemoryLimit] is not set.
const DefaultMemoryLimit = 512 << 20

const (
	pageSize = 64 << 10
	maxPages = 1 << 16
)

func (o LoadOptions) withDefaults() LoadOptions {
	if o.Name == "" {
		o.Name = "guest"
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = DefaultMemoryLimit
	}
	o.MemoryLimit = min(o.MemoryLimit/pageSize, maxPages) * pageSize
	return o
}

// Progress tells of a compilation that takes long.
type Progress struct {
	// Elapsed is for how long the guest has been compiled.
	Elapsed time.Duration
	// Functions is how many functions are being compiled, and Bytes how large the
	// guest is.
	Functions int
	Bytes     int
	// Module is which core module is being compiled, from 1, of how many: a
	// component has several.
	Module, Modules int
}

// The errors of a file that is refused before it is compiled.
type (
	// A FileError is what is wrong with a guest's file, and where.
	FileError = precheck.Error
	// A LimitError says that a guest's file asks for more than is allowed.
	LimitError = precheck.LimitError
	// A ComponentFileError is what is wrong with a component, and where.
	ComponentFileError = component.Error
)

// Load checks and compiles a guest: a core module or a component. The bytes are
// not kept. The error says what is wrong with them: see [FileError],
// [ComponentFileError] and [LimitError]; a file that could not be compiled in time
// is [ErrCompileTimeout].
func (e *Engine) Load(ctx context.Context, wasm []byte, o LoadOptions) (*Guest, error) {
	o = o.withDefaults()
	load := e.loadModule
	if component.Detect(wasm) == component.FormComponent {
		load = e.loadComponent
	}
	g, err := load(ctx, wasm, o)
	if err != nil {
		return nil, err
	}
	if err := e.adopt(g); err != nil {
		g.code.close(ctx)
		return nil, err
	}
	return g, nil
}

func (e *Engine) loadModule(ctx context.Context, wasm []byte, o LoadOptions) (*Guest, error) {
	m, err := precheck.Check(wasm, precheck.Limits{MemoryPages: uint32(o.MemoryLimit / pageSize)})
	if err != nil {
		return nil, err
	}
	g := &Guest{engine: e, name: o.Name, opts: o, names: m.Names(), hasMemory: m.HasMemory()}
	if err := g.describe(m); err != nil {
		return nil, err
	}
	w := m.Rewrite(precheck.Rewrite{Control: true, Functions: importModule})
	g.interrupt, g.start, g.yield = w.Interrupt, w.Start, w.Yield
	progress := func(d time.Duration) {
		if o.Progress != nil {
			o.Progress(Progress{Elapsed: d, Functions: m.FunctionCount(), Bytes: len(wasm), Module: 1, Modules: 1})
		}
	}
	if g.code, err = e.compile(ctx, moduleSource(w.Bytes), progress); err != nil {
		return nil, err
	}
	if err := g.provideImports(ctx); err != nil {
		g.code.close(ctx)
		return nil, err
	}
	return g, nil
}

// A Guest is a compiled guest, of which any number of instances can be made.
type Guest struct {
	engine *Engine
	name   string
	opts   LoadOptions
	code   *compiled

	imports []imported
	exports map[string]exported
	order   []string // of exports, as in the file
	found   [len(ways)]wayFound

	// Of a core module.
	names            precheck.Names
	hasMemory        bool
	interrupt, start string // names of exports
	yield            uint32 // a function that is not the guest's own

	// Of a component.
	modules []preparedModule
	needs   []component.Extern

	mu        sync.Mutex
	closed    bool
	instances map[*Instance]struct{}
}

// An imported is a function that the guest imports.
type imported struct {
	FuncInfo
	typ precheck.FuncType
	// wasi is what serves an import of WASI preview 1.
	wasi api.GoModuleFunction
}

// An exported is a function that the guest exports: its type in a core module, or
// that in WIT.
type exported struct {
	typ precheck.FuncType
	wit string
}

func (e exported) signature() string {
	if e.wit != "" {
		return e.wit
	}
	return e.typ.String()
}

// Name is the name that the guest was loaded with.
func (g *Guest) Name() string { return g.name }

// A FuncInfo is a function that a guest imports or exports.
type FuncInfo struct {
	// Module is the module or interface that an import is from; for exports it is
	// empty.
	Module string
	Name   string
	// Signature is the core type, as in "(i32, i32) -> (i32)", or of a component
	// the WIT type, as in "func(a: u8) -> string".
	Signature string
}

// String names the function as in messages, "murmur:tool/run@0.1.0#run".
func (f FuncInfo) String() string {
	if f.Module == "" && f.Name != "" {
		return f.Name
	}
	return f.Module + "#" + f.Name
}

// Imports are the functions that the guest imports, in the order of its file.
func (g *Guest) Imports() []FuncInfo {
	infos := make([]FuncInfo, len(g.imports))
	for i, imp := range g.imports {
		infos[i] = imp.FuncInfo
	}
	return infos
}

// Exports are the functions that the guest exports, in the order of its file.
func (g *Guest) Exports() []FuncInfo {
	infos := make([]FuncInfo, len(g.order))
	for i, name := range g.order {
		infos[i] = FuncInfo{Name: name, Signature: g.exports[name].signature()}
	}
	return infos
}

// describe keeps what the module says of its imports and exports.
func (g *Guest) describe(m *precheck.Module) error {
	var others []string
	for _, imp := range m.Imports() {
		if imp.Kind != precheck.ExternFunc {
			others = append(others, fmt.Sprintf("%s %q of %q", imp.Kind, imp.Name, imp.Module))
			continue
		}
		info := FuncInfo{Module: imp.Module, Name: imp.Name, Signature: imp.Func.String()}
		g.imports = append(g.imports, imported{FuncInfo: info, typ: imp.Func})
	}
	if len(others) > 0 {
		return fmt.Errorf("a guest can import functions only, and this one imports %s", list(others))
	}
	g.exports = map[string]exported{}
	for _, e := range m.Exports() {
		if e.Kind == precheck.ExternFunc {
			g.exports[e.Name] = exported{typ: e.Func}
			g.order = append(g.order, e.Name)
		}
	}
	return nil
}

// list joins names for a message, and leaves out most of very many.
func list(names []string) string {
	const most = 20
	out := ""
	for i, n := range names {
		switch {
		case i == most:
			return out + fmt.Sprintf(" and %d more", len(names)-most)
		case i > 0:
			out += ", "
		}
		out += n
	}
	return out
}

// add counts an instance in, unless the guest is closed.
func (g *Guest) add(i *Instance) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("cannot instantiate guest %s: it is %w", g.name, ErrClosed)
	}
	if g.instances == nil {
		g.instances = map[*Instance]struct{}{}
	}
	g.instances[i] = struct{}{}
	return nil
}

// remove counts an instance out. The last one of a closed guest frees its code.
func (g *Guest) remove(i *Instance) {
	g.mu.Lock()
	delete(g.instances, i)
	last := g.closed && len(g.instances) == 0
	g.mu.Unlock()
	if last {
		g.code.close(context.Background())
	}
}

// Close frees the compiled guest once its last instance is closed. No further
// instance can be made.
func (g *Guest) Close(ctx context.Context) error {
	g.engine.forget(g)
	g.mu.Lock()
	was := g.closed
	g.closed = true
	idle := len(g.instances) == 0
	g.mu.Unlock()
	if !was && idle {
		g.code.close(ctx)
	}
	return nil
}

// shut closes the guest and its instances.
func (g *Guest) shut(ctx context.Context) {
	g.mu.Lock()
	var open []*Instance
	for i := range g.instances {
		open = append(open, i)
	}
	g.mu.Unlock()
	_ = g.Close(ctx)
	for _, i := range slices.Backward(open) {
		_ = i.Close(ctx)
	}
}
