package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// Options say how a component is loaded.
type Options struct {
	// Prepare sees each core module before it is compiled, its imports already
	// renamed, and gives the bytes that are compiled: the place for checks and
	// rewrites of core modules. Nil compiles them as they are.
	// The modules of nested components come after those around them.
	Prepare func(module []byte) ([]byte, error)
	// Compiling is told of each core module before it is compiled, which can
	// take seconds: its position from 1, out of how many, and its size in bytes.
	// May be nil.
	Compiling func(n, total, size int)
}

// Component is a loaded component: decoded, validated, its core modules
// compiled. It may be instantiated any number of times, concurrently.
type Component struct {
	runtime  wazero.Runtime
	root     *linkedTemplate
	compiled map[*coreModule]wazero.CompiledModule
	registry registry

	mu     sync.Mutex
	glue   map[string]wazero.CompiledModule // by its bytes
	closed []func(context.Context) error
}

// linkedTemplate is a template with what linking needs, made once.
type linkedTemplate struct {
	*template
	abi     *abi
	lowers  []*canon.HostFunc // by index of made functions, nil for others
	refused []error           // why a made function only traps
	lifts   map[*canonPlan]*liftPlan
	host    api.Module // the made functions
	context bool       // uses context.get or context.set
	nested  map[*template]*linkedTemplate

	mu   sync.Mutex
	glue map[glueKey]*linkedGlue
}

type glueKey struct {
	step   *stepCoreInstantiate
	module *coreModule
}

// linkedGlue is glue ready to be instantiated; it is empty for a module that
// imports nothing.
type linkedGlue struct {
	compiled wazero.CompiledModule
	sources  []int
	self     bool
}

// liftPlan is a lifted function, planned once for all instances.
type liftPlan struct {
	*canonPlan
	typ     *canon.FuncType
	dynamic *canon.DynamicExport
	refused error
}

// Load decodes, validates and compiles a component for instances in the
// runtime. Errors in the binary are of type *Error.
func Load(ctx context.Context, runtime wazero.Runtime, data []byte, o Options) (*Component, error) {
	data = slices.Clone(data)
	raw, err := decode(data)
	if err != nil {
		return nil, err
	}
	t, err := validate(data, raw)
	if err != nil {
		return nil, err
	}
	c := &Component{runtime: runtime, compiled: map[*coreModule]wazero.CompiledModule{}, glue: map[string]wazero.CompiledModule{}}
	if err := c.compile(ctx, data, t, o); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	if c.root, err = c.link(ctx, t); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	return c, nil
}

// Close frees what the component holds. Its instances must be closed before.
func (c *Component) Close(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, f := range slices.Backward(c.closed) {
		errs = append(errs, f(ctx))
	}
	c.closed = nil
	return errors.Join(errs...)
}

func (c *Component) onClose(f func(context.Context) error) {
	c.mu.Lock()
	c.closed = append(c.closed, f)
	c.mu.Unlock()
}

// allModules lists the core modules of a component and those within it.
func (t *template) allModules() []*coreModule {
	all := slices.Clone(t.modules)
	for _, s := range t.steps {
		if n, ok := s.(*stepComponent); ok {
			all = append(all, n.template.allModules()...)
		}
	}
	return all
}

func (c *Component) compile(ctx context.Context, data []byte, t *template, o Options) error {
	all := t.allModules()
	for i, m := range all {
		m.position = i
		wasm := m.renamed(data)
		var err error
		if o.Prepare != nil {
			if wasm, err = o.Prepare(wasm); err != nil {
				return fmt.Errorf("core module %d at offset 0x%x: %w", i, m.at, err)
			}
		}
		if o.Compiling != nil {
			o.Compiling(i+1, len(all), len(wasm))
		}
		compiled, err := c.runtime.CompileModule(ctx, wasm)
		if err != nil {
			return fmt.Errorf("core module %d at offset 0x%x: %w", i, m.at, err)
		}
		c.onClose(compiled.Close)
		c.compiled[m] = compiled
	}
	return nil
}
