package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// The errors that a caller may act on.
var (
	// ErrNoHook says that the program does not call the hook first in main, so
	// that a supervisor would run the program a second time.
	ErrNoHook = errors.New("the supervisor hook is not the first call in main")
	// ErrUnsupported says that commands cannot be supervised on this system.
	ErrUnsupported = errors.New("commands are supervised on Linux alone")
	// ErrNone says that the session has no living supervisor.
	ErrNone = errors.New("the session has no living supervisor")
	// ErrLost says that the connection to the supervisor is gone.
	ErrLost = errors.New("the supervisor is gone")
	// ErrUnknown says that the supervisor has no such command.
	ErrUnknown = errors.New("the supervisor has no such command")
)

// Options say which supervisor is meant.
type Options struct {
	// Dir is the session's directory, which only the owner can enter.
	Dir string
	// Session is whose commands will be started.
	Session Session
	// Containment is how the session's commands are contained; nil stands for no
	// containment. It is the supervisor that enforces it.
	Containment *containment.Profile
	// MaxRunning is how many commands of the session may run at a time, demoted
	// ones included. Defaults to [shell.DefaultMaxRunning].
	MaxRunning int
	// Missed, if set, is called whenever a command has ended that this Runner
	// did not start: its exit record is on disk by then. It must not block.
	Missed func()
	// Log, if set, gets a line for whatever the operator should know.
	Log func(line string)
}

func (o Options) slots() *shell.Slots {
	if o.MaxRunning == 0 {
		return shell.NewSlots(shell.DefaultMaxRunning)
	}
	return shell.NewSlots(o.MaxRunning)
}

// A BusyError says that another runtime has the session.
type BusyError struct {
	// PID is the process id of that runtime.
	PID int
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the session is in use by the runtime with process id %d", e.PID)
}

// Records opens the records of the session in dir, whose supervisor writes them.
func Records(dir string) (*jobs.Store, error) { return jobs.Open(filepath.Join(dir, jobsDir)) }

// Began says whether dir has anything that a supervisor of commands made: a
// journal, its lock, or a record, one set aside included.
func Began(dir string) bool {
	for _, pattern := range []string{journalFile, lockName, jobsDir + "/wrk_*", jobsDir + "/aside/*"} {
		if found, err := fs.Glob(os.DirFS(dir), pattern); err != nil || len(found) > 0 {
			return true
		}
	}
	return false
}

// jobsDir and lockName lie in the session's directory, as the journal does.
const (
	jobsDir    = "jobs"
	lockName   = "supervisor.lock"
	socketName = "supervisor.sock"
	logName    = "supervisor.log"
)
