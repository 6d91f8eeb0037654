package host

import (
	"context"
	"fmt"
	"reflect"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// A Resource is a WIT resource whose values are Go values of type T. It is one
// type wherever it is used: share the Resource between the plugins whose functions
// take it.
//
// Functions take and return it as Own[T], which passes it on, or take it as
// Borrow[T], which lends it for the call. Its methods are functions with the names
// that WIT gives them:
//
//	streams := host.NewResource("input-stream", (*stream).close)
//	p := host.NewPlugin("wasi:io/streams@0.2.0", streams,
//		host.Func2("[method]input-stream.read", func(ctx context.Context, s host.Borrow[*stream], n uint64) ([]byte, error) { … }))
type Resource[T any] struct {
	t *canon.ResourceType
}

// NewResource defines a resource. When its last owner drops it, drop is called;
// drop may be nil. The result is an [Item] of the plugin whose interface defines
// the resource; in other plugins use [Resource.Used].
func NewResource[T any](name string, drop func(T)) *Resource[T] {
	r := &canon.Resource{Name: name}
	if drop != nil {
		r.Drop = func(_ context.Context, rep canon.Rep) error {
			v, ok := rep.Go.(T)
			if !ok {
				return fmt.Errorf("internal error: resource %s is a Go %T", name, rep.Go)
			}
			drop(v)
			return nil
		}
	}
	return &Resource[T]{t: &canon.ResourceType{Name: name, Fixed: r}}
}

func (r *Resource[T]) addTo(p *Plugin) error {
	if _, twice := p.resources[r.t.Name]; twice {
		return fmt.Errorf("resource %s is there twice", r.t.Name)
	}
	p.resources[r.t.Name] = r.t
	return r.use(p)
}

func (r *Resource[T]) use(p *Plugin) error {
	g := reflect.TypeFor[T]()
	if other, twice := p.goTypes[g]; twice && other != r.t {
		return fmt.Errorf("resources %s and %s are both values of %s", other.Name, r.t.Name, g)
	}
	p.goTypes[g] = r.t
	return nil
}

// lenient makes dropping handles one of the things that DuringRealloc allows. A
// resource is one type wherever it is used, so this holds for all its uses.
func (r *Resource[T]) lenient() Item {
	r.t.Fixed.Lenient = true
	return r
}

// Used is the resource as an item of a plugin whose interface uses it, and whose
// functions have it in their types.
func (r *Resource[T]) Used() Item { return usedResource[T]{r} }

type usedResource[T any] struct{ r *Resource[T] }

// A plugin may use a resource under its name as well: an interface that has
// `use streams.{input-stream}` exports the name again.
func (u usedResource[T]) addTo(p *Plugin) error {
	p.resources[u.r.t.Name] = u.r.t
	return u.r.use(p)
}
