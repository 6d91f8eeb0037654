package provenance

import (
	"errors"
	"fmt"
)

// An Origin says what kind of source a task came from. The zero value is Event.
type Origin uint8

// The origins.
const (
	Event      Origin = iota // something happened outside
	User                     // a person, through the command line or the embedder
	Peer                     // another capsule
	Schedule                 // a timer
	Completion               // a command that ended in the background
	System                   // the runtime itself
)

// A Trust says whether a task's message may be believed. The zero value is
// Untrusted.
type Trust uint8

// The trusts.
const (
	Untrusted Trust = iota
	Trusted
)

var originNames = [...]string{
	Event: "event", User: "user", Peer: "peer", Schedule: "schedule", Completion: "completion", System: "system",
}

// witOrigins is the order of `enum origin` in murmur:task/types.
var witOrigins = [...]Origin{User, Peer, Schedule, Event, Completion, System}

// Origins lists every origin, in the order of the WIT.
func Origins() []Origin { return append([]Origin(nil), witOrigins[:]...) }

// ParseOrigin reads an origin's exact lowercase name.
func ParseOrigin(name string) (Origin, error) {
	for o, n := range originNames {
		if n == name {
			return Origin(o), nil
		}
	}
	return Event, fmt.Errorf("cannot read %q as an origin: want user, peer, schedule, event, completion or system", name)
}

// ParseTrust reads a trust's exact lowercase name.
func ParseTrust(name string) (Trust, error) {
	switch name {
	case "trusted":
		return Trusted, nil
	case "untrusted":
		return Untrusted, nil
	}
	return Untrusted, fmt.Errorf("cannot read %q as a trust: want trusted or untrusted", name)
}

// String is the origin's name; that of a value that is none is "event".
func (o Origin) String() string {
	if int(o) >= len(originNames) {
		return originNames[Event]
	}
	return originNames[o]
}

// WIT is the origin's case index in `enum origin` of murmur:task/types.
func (o Origin) WIT() uint8 {
	for i, w := range witOrigins {
		if w == o {
			return uint8(i)
		}
	}
	return Event.WIT()
}

// String is the trust's name; that of a value that is none is "untrusted".
func (t Trust) String() string {
	if t == Trusted {
		return "trusted"
	}
	return "untrusted"
}

// WIT is the trust's case index in `enum trust` of murmur:task/types.
func (t Trust) WIT() uint8 {
	if t == Trusted {
		return 0
	}
	return 1
}

// errDecode answers every attempt to fill a value from JSON or text. Without
// it encoding/json would take a bare number, and a message could declare trust.
var errDecode = errors.New("cannot decode a provenance: it is derived, use Restore for a stored one")

// MarshalText writes the origin's name.
func (o Origin) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText always fails: see [Restore].
func (o *Origin) UnmarshalText([]byte) error { return errDecode }

// MarshalText writes the trust's name.
func (t Trust) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText always fails: see [Restore].
func (t *Trust) UnmarshalText([]byte) error { return errDecode }
