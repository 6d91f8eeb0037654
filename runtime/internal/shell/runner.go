package shell

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// A Launch is one command ready to start: every name in it is resolved and
// every limit is settled, so that a [Runner] decides nothing.
type Launch struct {
	// Path is the absolute path of the binary that runs and that reports name.
	Path string
	// Args is the argument vector, Args[0] included.
	Args []string
	// Env is the whole environment of the command, as NAME=value.
	Env []string
	// Dir is the absolute real path of the directory the command starts in.
	Dir string
	// Stdin is the text on standard input; nil stands for /dev/null.
	Stdin []byte
	// MaxRuntime ends the command's process tree once it has run this long.
	// Zero stands for no limit.
	MaxRuntime time.Duration
	// MaxOutput is how many bytes of standard output and standard error
	// together are kept on disk; the rest is read, counted and dropped.
	MaxOutput int64
	// OutDir is the directory, outside every workdir, that gets the captured
	// streams, as <Name>.stdout and <Name>.stderr.
	OutDir string
	// Name is the launch's own id: unique, and safe as a file name. It is also
	// the mark by which the processes of this command are found again.
	Name string
	// Task names the task that asked for the command. The rest describes it in
	// a durable record, should the command outlive the runtime: Text is the
	// command as [Request.KeptText] has it, the others are those of the task.
	Task, Text, ContextID, Origin, Trust string
	// LogPath is where the workdir gets a copy of the full log, relative to it;
	// empty stands for none. Who writes the log of a command that outlived its
	// runtime knows of it from the record.
	LogPath string
}

// A Runner starts commands. It is safe for concurrent use.
type Runner interface {
	// Start starts l and returns at once. An error means that nothing runs; it
	// is a [*BusyError] if too many commands run already.
	Start(ctx context.Context, l Launch) (Process, error)
	// Close releases what the runner holds. It ends no command.
	Close() error
}

// A Process is one command that was started. Its methods are safe for
// concurrent use.
type Process interface {
	// Ended is closed once the command has ended and its output is on disk. A
	// command ends when no process of its leader's kernel session is alive.
	Ended() <-chan struct{}
	// Exit tells how the command ended. It is valid once Ended is closed.
	Exit() Exit
	// Started is when the command was spawned; all durations count from it.
	Started() time.Time
	// Output tells where the streams are captured and how much came so far.
	Output() Output
	// Stop ends the command's process tree (TERM, two seconds, KILL) and waits
	// for it. It is idempotent; the processes that could not be proven dead are
	// in Exit().Survivors.
	Stop(ctx context.Context, why Reason) error
}

// A Durable process can be promised to outlive the runtime. The processes of a
// supervised [Runner] are durable, those of an in-process one are not.
type Durable interface {
	Process
	// Demote makes the command's record durable before the guest is told of it.
	// An error means that it could not be, and that nothing of the command runs
	// any more: its tree was torn down, because nobody could account for it.
	Demote(ctx context.Context, d Demotion) error
	// Settle says that the result of a command that ended in the foreground is
	// in the hands of the one who asked. Until then it is kept for the case
	// that the runtime dies first: it is owed like the result of a demoted one.
	Settle()
}

// A Demotion names the work that a command becomes.
type Demotion struct {
	WorkID string
}

// A Reason says why a command has no exit code of its own.
type Reason string

// The reasons, from the record's point of view. A command that ended by itself
// has none.
const (
	ReasonTimedOut          Reason = "timed_out"
	ReasonKilled            Reason = "killed"
	ReasonDied              Reason = "died"
	ReasonOwnershipLost     Reason = "ownership_lost"
	ReasonResultUnavailable Reason = "result_unavailable"
)

// Exit tells how a command ended.
type Exit struct {
	// Code is the exit code, 128+n after signal n, or -1 where there is none.
	Code int
	// Signal names the signal that ended the leader, as in "SIGKILL".
	Signal string
	// Reason is set where the command did not end by itself; Code is then -1.
	Reason Reason
	// Limit names the resource limit that the command met, if one is known.
	Limit string
	// LeftRunning are processes that left the command's kernel session and live.
	LeftRunning []Survivor
	// Survivors are processes that a teardown could not prove dead.
	Survivors []Survivor
	// WaitErr is why the end could not be observed, if it could not.
	WaitErr string
	// Duration counts from the spawn to the end.
	Duration time.Duration
}

// OK says whether the command ended by itself with exit code 0, within its
// limits and observed.
func (e Exit) OK() bool {
	return e.Code == 0 && e.Reason == "" && e.Limit == "" && e.WaitErr == ""
}

// A Survivor is a process named to a person.
type Survivor struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Output tells where the captured streams of a command are.
type Output struct {
	// StdoutPath and StderrPath are the captured streams' files. A file is there
	// once its stream has brought anything, and only then.
	StdoutPath, StderrPath string
	// StdoutBytes and StderrBytes count what the command wrote, kept or not.
	StdoutBytes, StderrBytes int64
	// Truncated says that output was dropped: what was over the cap, or what
	// came after Err.
	Truncated bool
	// Err is why a file could not be written any more, if that was so.
	Err string `json:",omitempty"`
}

// Remove removes the captured streams.
func (o Output) Remove() error {
	var errs []error
	for path, size := range map[string]int64{o.StdoutPath: o.StdoutBytes, o.StderrPath: o.StderrBytes} {
		if size == 0 {
			continue
		}
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
