package component

import (
	"fmt"
	"strings"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// Extern is an import or export as it is shown to people.
type Extern struct {
	// Name is the interface (`ns:pkg/iface@1.2.3`) or plain name.
	Name string
	// Kind is "func", "instance", "type", "resource", "module" or "component".
	Kind string
	// Text is the item as WIT writes it, without its name for an instance.
	Text string
	// Items are what an instance holds.
	Items []Extern
}

// Imports are what the component needs, in the order of its binary.
func (c *Component) Imports() []Extern { return describe(c.root.typ.imports) }

// Exports are what the component offers, in the order of its binary.
func (c *Component) Exports() []Extern { return describe(c.root.typ.exports) }

// describe writes externs as WIT. A type is called by its name from where it is
// exported on.
func describe(e externs) []Extern {
	return (&witWriter{names: map[anyType]string{}, left: maxTextNodes}).externs(e)
}

// CheckExport checks that the component exports a function of this type, which
// has no resources. The interface is found along its version; "" is the
// component itself.
func (c *Component) CheckExport(iface, name string, want *canon.FuncType) error {
	e := c.root.typ.exports
	if iface != "" {
		found, ok := e.types[canon.Pick(e.names, iface)]
		t, isInstance := found.typ.(*instanceType)
		if !ok || !isInstance || found.sort != sortInstance {
			return fmt.Errorf("the component does not export the interface `%s`", iface)
		}
		e = t.exports
	}
	f, ok := e.types[name]
	if !ok || f.sort != sortFunc {
		return fmt.Errorf("the component does not export the function `%s`", member(iface, name))
	}
	t := &typeCheck{bound: map[*resource]*canon.Resource{}, resolve: func(r *canon.ResourceType) *canon.Resource { return r.Fixed }}
	if err := t.fn(want, f.typ.(*funcType)); err != nil {
		return fmt.Errorf("the component exports `%s` with another type: %w", member(iface, name), err)
	}
	return nil
}

// Func finds an exported function. The interface is found along its version;
// "" is the component itself.
func (i *Instance) Func(iface, name string) (*Func, bool) {
	items := i.root.exports
	if iface != "" {
		names := make([]string, 0, len(items))
		for n := range items {
			names = append(names, n)
		}
		items, _ = items[canon.Pick(names, iface)].(Items)
	}
	f, ok := items[name].(*Func)
	return f, ok
}

// witWriter writes types as WIT.
type witWriter struct {
	names map[anyType]string
	// left counts down the type nodes; a type that shares its parts can be far
	// larger as text than in the binary.
	left int
}

func (w *witWriter) externs(e externs) []Extern {
	var out []Extern
	for _, n := range e.names {
		out = append(out, w.extern(n, e.types[n]))
	}
	return out
}

func (w *witWriter) extern(name string, t externType) Extern {
	x := Extern{Name: name, Kind: externWord(t.sort)}
	switch t.sort {
	case sortFunc:
		x.Text = name + ": " + w.fn(t.typ.(*funcType))
	case sortType:
		if _, ok := t.typ.(*resourceType); ok {
			x.Kind, x.Text = "resource", "resource "+name
		} else {
			x.Text = w.definition(name, t.typ)
		}
		w.names[t.typ] = name
	case sortInstance:
		x.Items = w.externs(t.typ.(*instanceType).exports)
	default:
		x.Text = externWord(t.sort) + " " + name
	}
	return x
}

func (w *witWriter) fn(f *funcType) string {
	params := make([]string, len(f.params))
	for i, p := range f.params {
		params[i] = p.name + ": " + w.val(p.typ)
	}
	text := "func(" + strings.Join(params, ", ") + ")"
	if f.async {
		text = "async " + text
	}
	if f.result != nil {
		text += " -> " + w.val(f.result)
	}
	return text
}

// definition writes a type export.
func (w *witWriter) definition(name string, t anyType) string {
	d, ok := t.(*valueDef)
	if !ok {
		return t.describe() + " type " + name
	}
	switch d.kind {
	case kindRecord, kindVariant:
		return fmt.Sprintf("%s %s %s", d.kind, name, w.body(d))
	case kindFlags, kindEnum:
		return fmt.Sprintf("%s %s { %s }", d.kind, name, strings.Join(d.labels, ", "))
	}
	return "type " + name + " = " + w.def(d)
}

func (w *witWriter) body(d *valueDef) string {
	parts := make([]string, len(d.fields))
	for i, f := range d.fields {
		parts[i] = f.name
		switch {
		case f.typ != nil && d.kind == kindRecord:
			parts[i] += ": " + w.val(f.typ)
		case f.typ != nil:
			parts[i] += "(" + w.val(f.typ) + ")"
		}
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (w *witWriter) val(v *valType) string {
	if w.left--; w.left < 0 {
		return "…"
	}
	if v == nil {
		return "_"
	}
	if v.def == nil {
		return v.prim.String()
	}
	if n, ok := w.names[v.def]; ok {
		return n
	}
	return w.def(v.def)
}

func (w *witWriter) def(d *valueDef) string {
	switch d.kind {
	case kindRecord, kindVariant:
		return d.kind.String() + " " + w.body(d)
	case kindFlags, kindEnum:
		return d.kind.String() + " { " + strings.Join(d.labels, ", ") + " }"
	case kindTuple:
		parts := make([]string, len(d.elems))
		for i := range d.elems {
			parts[i] = w.val(&d.elems[i])
		}
		return "tuple<" + strings.Join(parts, ", ") + ">"
	case kindFixedList:
		return fmt.Sprintf("list<%s, %d>", w.val(d.elem), d.length)
	case kindMap:
		return "map<" + w.val(d.elem) + ", " + w.val(d.other) + ">"
	case kindResult:
		return w.result(d)
	case kindOwn, kindBorrow:
		return w.handle(d)
	}
	if d.elem == nil {
		return d.kind.String()
	}
	return d.kind.String() + "<" + w.val(d.elem) + ">"
}

func (w *witWriter) result(d *valueDef) string {
	switch {
	case d.elem == nil && d.other == nil:
		return "result"
	case d.other == nil:
		return "result<" + w.val(d.elem) + ">"
	}
	return "result<" + w.val(d.elem) + ", " + w.val(d.other) + ">"
}

// handle writes a handle; WIT leaves the word own out.
func (w *witWriter) handle(d *valueDef) string {
	name, ok := w.names[d.res]
	if !ok {
		name = d.res.res.name
	}
	if d.kind == kindOwn {
		return name
	}
	return "borrow<" + name + ">"
}
