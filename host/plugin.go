package host

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// A Plugin is a WIT interface implemented by Go functions. It is immutable, and
// serves any number of instances.
//
// The WIT types of a function are those that its Go types stand for; [TypeText]
// shows which. They are compared with what a guest imports before it runs, so a
// call can rely on them, and uses no reflection.
type Plugin struct {
	name      string
	funcs     map[string]*canon.HostFunc // nil for one that cannot be used
	resources map[string]*canon.ResourceType
	goTypes   canon.Resources
	state     any
	err       error
}

// An Item is one thing that a plugin has: a function ([Func1], [Proc1], [Method1]
// and their like), or a resource ([NewResource], [Resource.Used]).
type Item interface {
	addTo(p *Plugin) error
}

// NewPlugin makes a plugin for the interface with this name, such as
// "murmur:tool/run@0.1.0". It never fails: what is wrong with an item is told by
// [Plugin.Err], and by every instance that is to be given the plugin.
func NewPlugin(name string, items ...Item) *Plugin {
	p := &Plugin{
		name:      name,
		funcs:     map[string]*canon.HostFunc{},
		resources: map[string]*canon.ResourceType{},
		goTypes:   canon.Resources{},
	}
	// Resources come first: the types of functions speak of them.
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(rank(a), rank(b)) })
	for _, it := range items {
		if err := it.addTo(p); err != nil && p.err == nil {
			p.err = fmt.Errorf("cannot use plugin %s: %w", name, err)
		}
	}
	return p
}

func rank(it Item) int {
	if _, ok := it.(*funcItem); ok {
		return 1
	}
	return 0
}

// Name is the interface that the plugin implements.
func (p *Plugin) Name() string { return p.name }

// Err is the first thing that is wrong with the plugin, or nil.
func (p *Plugin) Err() error { return p.err }

// With is the plugin with state for one instance: what its methods ([Method1] and
// their like) get as their receiver.
func (p *Plugin) With(state any) *Plugin {
	q := *p
	q.state = state
	return &q
}

// Functions are the plugin's functions, sorted, each as WIT writes its type.
// Parameters have no names in Go, and get numbers.
func (p *Plugin) Functions() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(p.funcs)) {
		if f := p.funcs[name]; f != nil {
			all = append(all, name+": "+f.Type().String())
		}
	}
	return all
}

const dropPrefix = "[resource-drop]"

// function is what serves the import with this name, or nil: one of the
// plugin's functions, or "[resource-drop]r" for one of its resources.
func (p *Plugin) function(name string) *canon.HostFunc {
	if f := p.funcs[name]; f != nil {
		return f
	}
	if r := p.resource(strings.TrimPrefix(name, dropPrefix)); r != nil && strings.HasPrefix(name, dropPrefix) {
		return canon.NewDropFunc(p.name+"#"+name, r)
	}
	return nil
}

// resource is the plugin's resource with this name, or nil.
func (p *Plugin) resource(name string) *canon.ResourceType { return p.resources[name] }

// findPlugin is the plugin that serves an interface, along semver, or nil. Of
// several that would, it is the one with the same name, else the highest version.
func findPlugin(plugins []*Plugin, iface string) *Plugin {
	return pickPlugin(plugins, pluginNames(plugins), iface)
}

// pickPlugin is findPlugin for many interfaces in turn, given the plugins' names.
func pickPlugin(plugins []*Plugin, names []string, iface string) *Plugin {
	if i := slices.Index(names, canon.Pick(names, iface)); i >= 0 {
		return plugins[i]
	}
	return nil
}

func pluginNames(plugins []*Plugin) []string {
	names := make([]string, len(plugins))
	for i, p := range plugins {
		names[i] = p.name
	}
	return names
}

// TypeText is the WIT type that a Go type stands for, as text: for messages, and
// for the author of a plugin who wants to see it. Resources cannot be told
// outside of their plugin.
func TypeText[T any]() (string, error) {
	t, err := canon.TypeOf(reflect.TypeFor[T](), nil)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

// A funcItem is a function before it is part of a plugin.
type funcItem struct {
	name    string
	lenient bool
	plan    func(fullName string, res canon.Resources) (*canon.HostFunc, error)
}

func (f *funcItem) addTo(p *Plugin) error {
	if _, twice := p.funcs[f.name]; twice {
		return fmt.Errorf("function %s is there twice", f.name)
	}
	h, err := f.plan(p.name+"#"+f.name, p.goTypes)
	if err == nil && f.lenient {
		h = h.Lenient()
	}
	p.funcs[f.name] = h
	if err != nil {
		return fmt.Errorf("function %s: %w", f.name, err)
	}
	return nil
}

// DuringRealloc is a function item that a guest may call even while its
// allocator runs on behalf of a call, which the Component Model forbids; or a
// resource, whose handles it may drop then. Guests in Go need it for the clock,
// random numbers and polls: their allocator may wake the garbage collector, which
// asks for the time. A use of a resource ([Resource.Used]) is returned as it is.
func DuringRealloc(it Item) Item {
	switch it := it.(type) {
	case *funcItem:
		f := *it
		f.lenient = true
		return &f
	case interface{ lenient() Item }:
		return it.lenient()
	}
	return it
}

// newFunc makes the item of a function that takes its parameters from a frame of
// type F, and leaves its result there.
func newFunc[F any](name string, body func(ctx context.Context, state any, f *F) error) Item {
	return &funcItem{name: name, plan: func(full string, res canon.Resources) (*canon.HostFunc, error) {
		return canon.NewHostFunc(full, nil, res, body)
	}}
}
