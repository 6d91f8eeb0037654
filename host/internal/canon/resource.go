package canon

import "context"

// A Resource is a resource type at run time. Two handles are of the same type
// if, and only if, they point to the same Resource.
type Resource struct {
	// Name is the resource's name in WIT, for messages.
	Name string
	// Impl is the instance that defines the resource, which gets a borrow as
	// the bare representation; nil for a resource that Go defines.
	Impl *Instance
	// Drop ends the life of a representation when its last owner drops it. It
	// may be nil. For a guest's resource it calls the guest's destructor.
	Drop func(ctx context.Context, r Rep) error
	// Lenient lets a guest drop handles even while it may not leave its
	// instance; see [HostFunc.Lenient].
	Lenient bool
}

// A Rep is the representation of a resource: a number of the guest that defines
// it, or a value of Go.
type Rep struct {
	Guest uint32
	Go    any
}

// describe is how trap texts call r.
func (r *Resource) describe() string {
	if r.Impl == nil {
		return "host-defined resource"
	}
	return "guest-defined resource"
}

// describeOther is how trap texts call r beside a resource that was expected.
func (r *Resource) describeOther(expected *Resource) string {
	if (r.Impl == nil) == (expected.Impl == nil) {
		return "a different " + r.describe()
	}
	return r.describe()
}
