package runtime

import (
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
)

// Hook must be the first call in the main function of a program that uses this
// package, and in TestMain. The runtime runs its own program again, from
// /proc/self/exe, as the supervisor of a session's commands, and to seal a
// command off; in such a process Hook does that work and never returns. In any
// other it returns at once.
func Hook() {
	// The first must know that it was called where a supervisor contains.
	containment.Hook()
	supervisor.Hook()
}
