package component

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// MissingError lists the imports of a component that nobody serves.
type MissingError struct {
	// Missing are the imports: `ns:pkg/iface@1.2.3`, with `#name` where only an
	// item of an interface is missing.
	Missing []string
	// Have are the names that are served.
	Have []string
	text []string
}

// Error implements error.
func (e *MissingError) Error() string {
	have := "nothing"
	if len(e.Have) > 0 {
		have = strings.Join(e.Have, ", ")
	}
	return fmt.Sprintf("%s; the host has: %s", strings.Join(e.text, "; "), have)
}

func (e *MissingError) add(name, text string) {
	e.Missing = append(e.Missing, name)
	e.text = append(e.text, text)
}

// importResolver finds and checks what serves the imports of a component.
type importResolver struct {
	names   []string // what is served, for version matching
	stubs   bool
	missing MissingError
	// bound are the resources that have been supplied so far.
	bound map[*resource]*canon.Resource
}

// resolveImports gives an item for each import. The error has all that is wrong.
func (c *Component) resolveImports(config InstanceConfig) (Items, error) {
	r := newImportResolver(config)
	out := Items{}
	var errs []error
	c.eachImport(r, config.Imports, func(name string, v any, err error) {
		out[name] = v
		errs = append(errs, err)
	})
	if len(r.missing.Missing) > 0 {
		errs = append(errs, &r.missing)
	}
	return out, errors.Join(errs...)
}

// CheckImports says what is wrong with what would serve each import, by its name:
// a [*MissingError] where nothing does. What is right is left out.
func (c *Component) CheckImports(config InstanceConfig) map[string]error {
	r := newImportResolver(config)
	wrong := map[string]error{}
	c.eachImport(r, config.Imports, func(name string, _ any, err error) {
		if len(r.missing.Missing) > 0 && err == nil {
			missing := r.missing
			err = &missing
		}
		r.missing = MissingError{Have: r.names}
		if err != nil {
			wrong[name] = err
		}
	})
	return wrong
}

func newImportResolver(config InstanceConfig) *importResolver {
	r := &importResolver{names: slices.Sorted(maps.Keys(config.Imports)), stubs: config.Stubs, bound: map[*resource]*canon.Resource{}}
	r.missing.Have = r.names
	return r
}

func (c *Component) eachImport(r *importResolver, have Items, visit func(name string, v any, err error)) {
	imports := c.root.typ.imports
	for _, name := range imports.names {
		want := imports.types[name]
		item, found := have[canon.Pick(r.names, name)]
		v, err := r.item(importPath{name: name}, want, item, found)
		if err != nil {
			err = fmt.Errorf("component imports %s `%s`, which cannot be linked: %w", linkWord(want.sort), name, err)
		}
		visit(name, v, err)
	}
}

// linkWord is what messages call an import of a sort.
func linkWord(s sort) string {
	if s == sortFunc {
		return "function"
	}
	return s.String()
}

// itemWord is what messages call a thing that was found.
func itemWord(item any) string {
	switch item.(type) {
	case *HostFunc, *Func, *UnservedError:
		return "func"
	case *canon.Resource:
		return "resource"
	case *Module:
		return "module"
	case Items:
		return "instance"
	}
	return "type"
}

// item checks one import, or one export of an imported instance.
func (r *importResolver) item(path importPath, want externType, item any, found bool) (any, error) {
	switch want.sort {
	case sortType:
		return r.typ(path, want.typ, item, found)
	case sortInstance:
		items, ok := item.(Items)
		if found && !ok {
			return nil, fmt.Errorf("expected instance found %s", itemWord(item))
		}
		return r.instance(path, want.typ.(*instanceType), items, found)
	}
	if !found {
		return r.absent(path, want)
	}
	switch v := item.(type) {
	case *Module:
		if want.sort == sortCoreModule {
			return v, linkModule(v.typ, want.module)
		}
	case *HostFunc, *Func, *UnservedError:
		if want.sort == sortFunc {
			return v, r.fn(v, want.typ.(*funcType))
		}
	}
	return nil, fmt.Errorf("expected %s found %s", linkWord(want.sort), itemWord(item))
}

// absent notes a missing item, or makes it a stub.
func (r *importResolver) absent(at importPath, want externType) (any, error) {
	path := at.String()
	if r.stubs && want.sort == sortFunc {
		return &UnservedError{path}, nil
	}
	iface, name, ok := strings.Cut(path, "#")
	if ok {
		r.missing.add(path, fmt.Sprintf("component imports instance `%s`, but its export `%s` was not found: %s implementation is missing",
			iface, name, linkWord(want.sort)))
	} else {
		r.missing.add(path, fmt.Sprintf("component imports %s `%s`, but a matching implementation was not found", linkWord(want.sort), path))
	}
	return nil, nil
}

// typ supplies a type. Only resources need something to stand for them, and
// one that is the same as another is known already.
func (r *importResolver) typ(path importPath, want anyType, item any, found bool) (any, error) {
	w, ok := want.(*resourceType)
	if !ok {
		return nil, nil
	}
	got, isResource := item.(*canon.Resource)
	if found && !isResource {
		return nil, fmt.Errorf("expected resource found %s", itemWord(item))
	}
	if have, ok := r.bound[w.res]; ok {
		if found && got != have {
			return nil, fmt.Errorf("mismatched resource types: `%s`", path)
		}
		return have, nil
	}
	if !found {
		if !r.stubs {
			return r.absent(path, externType{sort: sortType})
		}
		got = &canon.Resource{Name: w.res.name}
	}
	r.bound[w.res] = got
	return got, nil
}

// instance checks the exports that are asked for. An instance that is not
// there is missing as a whole, unless it would be empty.
func (r *importResolver) instance(at importPath, want *instanceType, items Items, found bool) (any, error) {
	path := at.String()
	if !found && !r.stubs && needsHost(want) && !strings.Contains(path, "#") {
		r.missing.add(path, fmt.Sprintf("component imports instance `%s`, but a matching implementation was not found", path))
		// Its resources stand for themselves while the rest is looked at.
		quiet := &importResolver{stubs: true, bound: r.bound}
		return quiet.instance(at, want, nil, false)
	}
	out := make(Items, len(want.exports.names))
	for _, name := range want.exports.names {
		item, ok := items[name]
		v, err := r.item(importPath{path, name}, want.exports.types[name], item, ok)
		if err != nil {
			return nil, fmt.Errorf("export `%s` has the wrong type: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

// An importPath leads to an item. It is put into words only for who reads it.
type importPath struct{ outer, name string }

// String is the path as [member] writes it.
func (p importPath) String() string { return member(p.outer, p.name) }

// member is `iface`, `iface#name`, or `iface#name.more`.
func member(path, name string) string {
	if path == "" {
		return name
	}
	if strings.Contains(path, "#") {
		return path + "." + name
	}
	return path + "#" + name
}

// needsHost says whether an instance exports anything that someone must serve.
func needsHost(t *instanceType) bool {
	for _, e := range t.exports.types {
		switch e.sort {
		case sortFunc, sortCoreModule, sortComponent:
			return true
		case sortType:
			if _, ok := e.typ.(*resourceType); ok {
				return true
			}
		case sortInstance:
			if needsHost(e.typ.(*instanceType)) {
				return true
			}
		}
	}
	return false
}

// linkModule checks a core module that is supplied for an import.
func linkModule(got, want *moduleType) error {
	for _, name := range slices.Sorted(maps.Keys(want.exports)) {
		g, ok := got.exports[name]
		if !ok {
			return fmt.Errorf("module export `%s` not defined", name)
		}
		if why := linkMismatch(g, want.exports[name]); why != "" {
			return fmt.Errorf("module export `%s` has the wrong type: %s", name, why)
		}
	}
	for _, imp := range got.imports {
		w := want.importNamed(imp.module, imp.name)
		if w == nil {
			return fmt.Errorf("module import `%s::%s` not defined", imp.module, imp.name)
		}
		if why := linkMismatch(w.typ, imp.typ); why != "" {
			return fmt.Errorf("module import `%s::%s` has the wrong type: %s", imp.module, imp.name, why)
		}
	}
	return nil
}

// linkMismatch is coreMismatch in the words of linking.
func linkMismatch(got, want coreExtern) string {
	if got.sort != want.sort {
		return fmt.Sprintf("expected %s found %s", coreSortWord(want.sort), coreSortWord(got.sort))
	}
	if want.sort == sortCoreFunc && !got.fn.equal(want.fn) {
		return fmt.Sprintf("expected type `%s`, found type `%s`", want.fn, got.fn)
	}
	return coreMismatch(got, want)
}
