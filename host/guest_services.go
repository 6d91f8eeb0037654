package host

import (
	"errors"
	"fmt"
	"slices"

	"github.com/murmur-capsule/murmur/host/internal/component"
)

// An Extern is an import or export of a component, as WIT.
type Extern = component.Extern

// IsComponent tells a component from a core module.
func (g *Guest) IsComponent() bool { return g.code.component != nil }

// WIT are the imports and exports of a component, types included, in the order of
// its file. A core module has none.
func (g *Guest) WIT() (imports, exports []Extern) {
	if !g.IsComponent() {
		return nil, nil
	}
	return g.needs, g.code.component.Exports()
}

// A Service is what serves an import of a guest: an interface of a component, or
// a function of a core module.
type Service struct {
	// Import is the name of what is imported.
	Import string
	// By is the name of the plugin that serves it, "" if none does.
	By string
	// Missing are the functions of the interface that the plugin does not have.
	// A component that calls one traps.
	Missing []string
	// Err says how the plugin differs from what is imported, which then cannot be
	// linked.
	Err error
}

// Services tells what of the plugins serves each import of the guest, in the order
// of its file. WASI preview 1, which a core module has from the host, is left out,
// and so are interfaces that have types only.
func (g *Guest) Services(plugins []*Plugin) []Service {
	if g.IsComponent() {
		return g.componentServices(plugins)
	}
	var all []Service
	for n := range g.imports {
		imp := &g.imports[n]
		if imp.wasi != nil {
			continue
		}
		s := Service{Import: imp.String()}
		if p := findPlugin(plugins, imp.Module); p != nil {
			s.By = p.name
			_, s.Err = imp.servedBy(p)
		}
		all = append(all, s)
	}
	return all
}

func (g *Guest) componentServices(plugins []*Plugin) []Service {
	wrong := g.code.component.CheckImports(component.InstanceConfig{Imports: g.componentImports(plugins), Stubs: true})
	var all []Service
	for _, x := range g.needs {
		if !isServed(x) {
			continue
		}
		s := Service{Import: x.Name, Err: wrong[x.Name]}
		var missing *component.MissingError
		if errors.As(s.Err, &missing) {
			s.Err = fmt.Errorf("nothing serves the %s", x.Kind)
		}
		if p := findPlugin(plugins, x.Name); p != nil {
			s.By = p.name
			eachFunction(x, func(_ string, f Extern) {
				if p.funcs[f.Name] == nil {
					s.Missing = append(s.Missing, f.Name)
				}
			})
		}
		all = append(all, s)
	}
	return all
}

// isServed tells whether an import needs something that serves it: all but types
// does.
func isServed(x Extern) bool {
	switch x.Kind {
	case kindInstance:
		return slices.ContainsFunc(x.Items, isServed)
	case kindType:
		return false
	}
	return true
}
