// Package queue orders a session's waiting tasks and says which may join them.
//
// A task waits in the lane of its own origin: users' before peers' before the
// background's, first come first served within a lane. Outside callers are
// admitted under a [Policy]; reports of commands that ended are always
// admitted, because their work was.
package queue

import "github.com/murmur-capsule/murmur/runtime/provenance"

// A Lane is the place in the queue that an origin gives. Lower lanes go first.
type Lane uint8

// The lanes.
const (
	User Lane = iota
	Peer
	Background

	lanes = 3
)

// LaneOf is the lane of tasks of an origin.
func LaneOf(o provenance.Origin) Lane {
	switch o {
	case provenance.User:
		return User
	case provenance.Peer:
		return Peer
	default:
		return Background
	}
}

// String is "user", "peer" or "bg".
func (l Lane) String() string {
	return [...]string{User: "user", Peer: "peer", Background: "bg"}[min(l, Background)]
}
