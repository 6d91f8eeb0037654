package guest

import "strconv"

// A Task is one message for the guest.
type Task struct {
	// ID names the task: "tsk_" and 32 hexadecimal digits.
	ID string
	// ContextID names the conversation that the task belongs to. The
	// completion of a command has the context of the task that started it.
	ContextID string
	// Origin tells where the task came from.
	Origin Origin
	// Trust tells whether the message may be acted upon as if the user had
	// written it.
	Trust Trust
	// Message is what the guest is asked to do, or told.
	Message string
}

// Origin tells where a task came from.
type Origin uint8

const (
	// OriginUser is the person or the program that runs the capsule.
	OriginUser Origin = iota
	// OriginPeer is another capsule.
	OriginPeer
	// OriginSchedule is a timer.
	OriginSchedule
	// OriginEvent is something that happened outside.
	OriginEvent
	// OriginCompletion is a command of an earlier task that was demoted and
	// has now ended.
	OriginCompletion
	// OriginSystem is the runtime itself.
	OriginSystem
)

var originNames = [...]string{"user", "peer", "schedule", "event", "completion", "system"}

// String returns the origin's name, such as "completion".
func (o Origin) String() string {
	if int(o) < len(originNames) {
		return originNames[o]
	}
	return "origin(" + strconv.Itoa(int(o)) + ")"
}

// Trust tells how far the message of a task can be believed. The runtime
// derives it; a guest cannot raise it.
type Trust uint8

const (
	// Trusted marks a message that the user stands behind.
	Trusted Trust = iota
	// Untrusted marks a message that nobody vouches for.
	Untrusted
)

// String returns "trusted" or "untrusted".
func (t Trust) String() string {
	if t == Trusted {
		return "trusted"
	}
	return "untrusted"
}
