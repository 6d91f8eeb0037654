package supervisor

import (
	"os"
	"sync/atomic"
)

// Supported says whether commands can be supervised on this system.
const Supported = true

// A process is a supervisor if both hold. Neither is ever inherited: commands
// get an environment of their own.
const (
	processName = "murmur-supervisor"
	markEnv     = "MURMUR_SUPERVISOR"
)

var hooked atomic.Bool

// Hook must be the first call in main. In a process that was started as a
// supervisor it serves, and ends the process; in any other it returns at once.
func Hook() {
	hooked.Store(true)
	if len(os.Args) != 2 || os.Args[0] != processName || os.Getenv(markEnv) == "" {
		return
	}
	os.Exit(serve(os.Args[1]))
}
