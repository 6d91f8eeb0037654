package runtime

import (
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// guestTask is t as the guest's handler gets it.
func guestTask(t *task) host.Task {
	return host.Task{
		ID:        t.id,
		ContextID: t.contextID,
		Origin:    t.prov.Origin().WIT(),
		Trust:     t.prov.Trust().WIT(),
		Message:   t.message,
	}
}

// A queuedTask is WIT's record task as murmur:task/queue hands it out.
type queuedTask struct {
	ID        string
	ContextID string
	Origin    witOrigin
	Trust     witTrust
	Message   string
}

type (
	witOrigin uint8
	witTrust  uint8
)

// WITEnum are the names of the origins, in the order of the WIT.
func (witOrigin) WITEnum() []string { return originNames }

// WITEnum are the names of the trusts, in the order of the WIT.
func (witTrust) WITEnum() []string { return trustNames }

var (
	originNames = witNames(provenance.Origins(), provenance.Origin.WIT)
	trustNames  = witNames([]provenance.Trust{provenance.Trusted, provenance.Untrusted}, provenance.Trust.WIT)
)

// witNames puts the names of a type's values at their places in the WIT.
func witNames[T interface{ String() string }](values []T, place func(T) uint8) []string {
	names := make([]string, len(values))
	for _, v := range values {
		names[place(v)] = v.String()
	}
	return names
}

func queued(t *task) *queuedTask {
	return &queuedTask{
		ID: t.id, ContextID: t.contextID, Message: t.message,
		Origin: witOrigin(t.prov.Origin().WIT()), Trust: witTrust(t.prov.Trust().WIT()),
	}
}
