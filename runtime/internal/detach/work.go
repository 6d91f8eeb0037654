// Package detach carries shell commands from the foreground to the background
// and back as reports.
//
// A command that outlives its grace period is demoted: [Await] registers it and
// the guest's call returns at once with [DemotionResult]. When it ends, the
// [Registry] turns it into a [Report] in one atomic step, for whom the runtime
// makes a task. What is still outstanding when the session ends is found by
// [Registry.Sweep]. The texts of all reports are made here and nowhere else.
package detach

import (
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A Work is a demoted command.
type Work struct {
	// ID names it in reports and in the trace.
	ID string
	// Binary is the resolved path; Command is the text as the guest wrote it,
	// or the arguments, quoted.
	Binary, Command string
	// TaskID and ContextID are those of the task that started it.
	TaskID, ContextID string
	// Provenance is that of the task that its completion will be.
	Provenance provenance.Provenance
	// Grace is how long the guest's call waited at most.
	Grace time.Duration
	// Started is when the command was spawned, Detached when it was demoted.
	Started, Detached time.Time
}

// LogPath is where the output of a work is written, relative to the workdir.
func (w Work) LogPath() string { return shell.WorkLog(w.ID) }

// A Log is a work's output as it was written to the workdir.
type Log struct {
	// Path is relative to the workdir.
	Path  string
	Bytes int64
	// Err is why there is no log, if there is none.
	Err error
	// CopyErr is why the copy that the guest asked for was not written, if it
	// was not.
	CopyErr error
}

// A LogWriter writes the output of a work that ended to the workdir.
type LogWriter func(w Work, out shell.Output, exit shell.Exit) Log

// A Completion reports a work that ended.
type Completion struct {
	Work
	Exit shell.Exit
	Log  Log
	// Output tells where the log was written from.
	Output shell.Output
}

// Status is "ok" for a command that ended by itself with exit code 0, within
// its limits and observed; else it is "error".
func (c Completion) Status() string {
	if c.Exit.OK() {
		return "ok"
	}
	return "error"
}
