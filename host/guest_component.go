package host

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/murmur-capsule/murmur/host/internal/component"
	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

// A preparedModule is a core module of a component, as the engine got it.
type preparedModule struct {
	names            precheck.Names
	functions        int
	interrupt, start string // names of exports
	yield            uint32 // a function that is not the guest's own
}

// modulePrefix begins the name that the engine knows a core module of a component
// by; its position follows. It is all that tells the frames of a stack apart.
const modulePrefix = "m"

// componentTable bounds what all tables of one core module together grow to, in
// elements: a component may have many, and they start with what they need.
const componentTable = 1 << 16

func (e *Engine) loadComponent(ctx context.Context, wasm []byte, o LoadOptions) (*Guest, error) {
	g := &Guest{engine: e, name: o.Name, opts: o}
	var now atomic.Pointer[Progress]
	now.Store(&Progress{Bytes: len(wasm)})
	src := source{wasm, func(ctx context.Context, c *compiled) (err error) {
		g.modules = nil
		c.component, err = component.Load(ctx, c.runtime, wasm, component.Options{
			Prepare: g.prepare,
			Compiling: func(n, total, _ int) {
				now.Store(&Progress{Bytes: len(wasm), Functions: g.modules[n-1].functions, Module: n, Modules: total})
			},
		})
		return err
	}}
	progress := func(d time.Duration) {
		if o.Progress != nil {
			p := *now.Load()
			p.Elapsed = d
			o.Progress(p)
		}
	}
	var err error
	if g.code, err = e.compile(ctx, src, progress); err != nil {
		return nil, err
	}
	g.describeComponent()
	if g.isPackage() {
		g.code.close(ctx)
		return nil, errPackage
	}
	return g, nil
}

// prepare checks a core module and makes what the engine gets.
func (g *Guest) prepare(module []byte) ([]byte, error) {
	m, err := precheck.Check(module, precheck.Limits{MemoryPages: uint32(g.opts.MemoryLimit / pageSize)})
	if err != nil {
		return nil, err
	}
	w := m.Rewrite(precheck.Rewrite{Control: true, TableElements: componentTable})
	name := modulePrefix + strconv.Itoa(len(g.modules))
	g.modules = append(g.modules, preparedModule{
		names: m.Names(), functions: m.FunctionCount(), interrupt: w.Interrupt, start: w.Start, yield: w.Yield,
	})
	return append(w.Bytes, moduleName(name)...), nil
}

// moduleName is a name section with a short name of the module alone.
func moduleName(name string) []byte {
	text := func(s string) []byte { return append([]byte{byte(len(s))}, s...) }
	const moduleSubsection = "\x00"
	content := append(text("name"), moduleSubsection...)
	content = append(content, text(string(text(name)))...)
	return append(binary.AppendUvarint([]byte{0}, uint64(len(content))), content...)
}

var errPackage = errors.New("it is a WIT package, which describes interfaces and has no code: a guest is made from it by a toolchain")

// isPackage tells whether the component is a WIT package, which exports types and
// nothing else.
func (g *Guest) isPackage() bool {
	return len(g.modules) == 0 && len(g.order) == 0 && len(g.code.component.Exports()) > 0
}

// describeComponent keeps what the component says of its imports and exports.
func (g *Guest) describeComponent() {
	g.needs = g.code.component.Imports()
	for _, x := range g.needs {
		eachFunction(x, func(iface string, f component.Extern) {
			g.imports = append(g.imports, imported{FuncInfo: FuncInfo{Module: iface, Name: f.Name, Signature: signatureOf(f)}})
		})
	}
	g.exports = map[string]exported{}
	for _, x := range g.code.component.Exports() {
		eachFunction(x, func(iface string, f component.Extern) {
			name := joinExport(iface, f.Name)
			g.exports[name] = exported{wit: signatureOf(f)}
			g.order = append(g.order, name)
		})
	}
}

// eachFunction visits a function, or those of an interface.
func eachFunction(x component.Extern, visit func(iface string, f component.Extern)) {
	if x.Kind == kindFunc {
		visit("", x)
		return
	}
	for _, f := range x.Items {
		if f.Kind == kindFunc {
			visit(x.Name, f)
		}
	}
}

// The kinds of a component's items.
const (
	kindInstance = "instance"
	kindType     = "type"
	kindFunc     = "func"
	kindResource = "resource"
)

func signatureOf(f component.Extern) string { return strings.TrimPrefix(f.Text, f.Name+": ") }

// innerCall is what the engine knows a call between two components by.
const innerCall = "lower"

// componentFrame is the name for a frame of a component, or "" for one that is
// not the guest's.
func (g *Guest) componentFrame(m []string) string {
	switch m[4] {
	case "":
	case innerCall:
		return ""
	default:
		return importMark + m[4]
	}
	at, err := strconv.Atoi(m[1])
	n, err2 := strconv.ParseUint(m[2], 10, 32)
	if err != nil || err2 != nil || at >= len(g.modules) || uint32(n) == g.modules[at].yield {
		return ""
	}
	return functionName(g.modules[at].names, uint32(n))
}
