// Package provenance says where a task came from and how far it is trusted.
//
// The two travel together as a [Provenance], and only [Derive] makes one: trust
// follows from the origin and from the trust of what caused the task, and
// cannot be declared by anybody. The zero value of every type here is the least
// trusted one.
package provenance

import "fmt"

// A Provenance is a task's origin and trust. The zero value is event/untrusted.
type Provenance struct {
	origin Origin
	trust  Trust
}

// Derive makes the provenance of a task from its origin and, where something
// caused it, the trust of that cause (nil: nothing did, or it is unknown).
//
// What people, timers and the runtime itself submit is trusted whatever caused
// it; what merely arrives never is; a peer's task and a completion are as
// trusted as their cause.
func Derive(origin Origin, inherited *Trust) Provenance {
	switch origin {
	case User, Schedule, System:
		return Provenance{origin, Trusted}
	case Peer, Completion:
		if inherited != nil && *inherited == Trusted {
			return Provenance{origin, Trusted}
		}
		return Provenance{origin, Untrusted}
	default:
		return Provenance{Event, Untrusted}
	}
}

// Restore derives the provenance that was stored as two names. A pair that
// Derive never makes, such as event and trusted, is refused: the store was
// tampered with, or is of another version.
func Restore(origin, trust string) (Provenance, error) {
	o, err := ParseOrigin(origin)
	if err != nil {
		return Provenance{}, err
	}
	stored, err := ParseTrust(trust)
	if err != nil {
		return Provenance{}, err
	}
	p := Derive(o, &stored)
	if p.trust != stored {
		return Provenance{}, fmt.Errorf("cannot restore the provenance %s/%s: no task has it", origin, trust)
	}
	return p, nil
}

// Origin is where the task came from.
func (p Provenance) Origin() Origin { return p.origin }

// Trust is how far the task is trusted.
func (p Provenance) Trust() Trust { return p.trust }

// String is "origin/trust".
func (p Provenance) String() string { return p.origin.String() + "/" + p.trust.String() }

// Caused derives the provenance of a task of the given origin that a task of
// provenance cause led to. A nil cause is an unknown one.
func Caused(origin Origin, cause *Provenance) Provenance {
	if cause == nil {
		return Derive(origin, nil)
	}
	return Derive(origin, &cause.trust)
}

// Lowest is the lowest of several trusts; of none it is Untrusted.
func Lowest(trusts ...Trust) Trust {
	if len(trusts) == 0 {
		return Untrusted
	}
	for _, t := range trusts {
		if t != Trusted {
			return Untrusted
		}
	}
	return Trusted
}
