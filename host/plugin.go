package host

import (
	"fmt"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// A Plugin is a WIT interface implemented by Go functions. It is immutable, and
// serves any number of instances.
type Plugin struct {
	name      string
	funcs     map[string]*pluginFunc
	resources map[string]*canon.Resource
	state     any
	err       error
}

// An Item is one thing that a plugin offers: a function ([Func1], [Method1] and
// their like) or a resource ([NewResource]).
type Item interface {
	addTo(p *Plugin) error
}

// NewPlugin makes a plugin for the interface with this name, such as
// "murmur:tool/run@0.1.0". It never fails: what is wrong with an item is told by
// [Plugin.Err], and by every instance that is to be given the plugin.
func NewPlugin(name string, items ...Item) *Plugin {
	p := &Plugin{name: name, funcs: map[string]*pluginFunc{}, resources: map[string]*canon.Resource{}}
	for _, it := range items {
		if err := it.addTo(p); err != nil && p.err == nil {
			p.err = fmt.Errorf("cannot use plugin %s: %w", name, err)
		}
	}
	return p
}

// Name is the interface that the plugin implements.
func (p *Plugin) Name() string { return p.name }

// Err is the first thing that is wrong with the plugin, or nil.
func (p *Plugin) Err() error { return p.err }

// With is the plugin with state for one instance: what its methods
// ([Method0] and their like) get as their receiver.
func (p *Plugin) With(state any) *Plugin {
	q := *p
	q.state = state
	return &q
}

// function is what serves the import with this name, or nil: one of the
// plugin's functions, or "[resource-drop]r" for one of its resources.
func (p *Plugin) function(name string) *canon.HostFunc { panic("not yet") }

// findPlugin is the plugin that serves an interface, along semver, or nil.
func findPlugin(plugins []*Plugin, iface string) *Plugin { panic("not yet") }

// A pluginFunc is a function that can be planned for the type it tells itself,
// or for the one a component asks for.
type pluginFunc struct {
	host *canon.HostFunc
	plan func(ft *canon.FuncType) (*canon.HostFunc, error)
}
