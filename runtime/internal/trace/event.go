// Package trace writes and reads a session's trace.jsonl: one JSON object a
// line, each an [Event].
//
// The trace is the record that a later session trusts about commands that ran
// in the background, see [Losses]. It is appended to and never rewritten.
package trace

import "encoding/json"

// The event types.
const (
	SessionStart    = "session_start"
	SessionEnd      = "session_end"
	TaskStart       = "task_start"
	TaskEnd         = "task_end"
	Shell           = "shell"
	ShellDetached   = "shell_detached"
	ShellCompleted  = "shell_completed"
	ShellAbandoned  = "shell_abandoned"
	ShellCarried    = "shell_carried"
	ShellLost       = "shell_lost"
	ShellFollowedUp = "shell_followed_up"
)

// The values of exit_status in a task_end. With the first two the guest has
// taken the task; with the others it has not.
const (
	StatusOK          = "ok"          // the guest answered
	StatusError       = "error"       // the guest answered with an error of its own
	StatusTrap        = "trap"        // the guest trapped or met a limit
	StatusCanceled    = "canceled"    // the caller went away
	StatusInterrupted = "interrupted" // the runtime died while the task ran
)

// An Event is one line of a trace, flat for all event types. A field that an
// event does not have is left out, never null; a pointer marks those whose zero
// is a value. Times are milliseconds since the Unix epoch, durations
// milliseconds, counted from a command's spawn.
type Event struct {
	Type      string `json:"event_type"`
	SessionID string `json:"session_id"`
	Timestamp int64  `json:"timestamp"`

	// session_start and session_end. ExitStatus is task_end's too.
	Capsule     string          `json:"capsule,omitempty"`
	Version     string          `json:"version,omitempty"`
	GuestSHA256 string          `json:"guest_sha256,omitempty"`
	Containment json.RawMessage `json:"containment,omitempty"` // the receipt, an object
	Workdir     string          `json:"workdir,omitempty"`
	ResumedFrom string          `json:"resumed_from,omitempty"`
	ExitStatus  string          `json:"exit_status,omitempty"`
	Tasks       *int64          `json:"tasks,omitempty"`
	TasksFailed *int64          `json:"tasks_failed,omitempty"`
	Detached    *int64          `json:"detached,omitempty"`
	Outstanding *int64          `json:"outstanding,omitempty"`

	// task_start and task_end.
	TaskID       string `json:"task_id,omitempty"`
	ContextID    string `json:"context_id,omitempty"`
	Source       string `json:"source,omitempty"`
	Origin       string `json:"origin,omitempty"`
	Trust        string `json:"trust,omitempty"`
	Lane         string `json:"lane,omitempty"`
	MessageBytes *int64 `json:"message_bytes,omitempty"`
	Repeated     bool   `json:"repeated,omitempty"`
	ShellCalls   *int64 `json:"shell_calls,omitempty"`
	DurationMS   *int64 `json:"duration_ms,omitempty"`

	// The shell events.
	WorkID              string `json:"work_id,omitempty"`
	Binary              string `json:"binary,omitempty"`
	Command             string `json:"command,omitempty"`
	Status              string `json:"status,omitempty"`
	ExitCode            *int64 `json:"exit_code,omitempty"`
	Reason              string `json:"reason,omitempty"`
	ResourceLimit       string `json:"resource_limit,omitempty"`
	StdoutBytes         *int64 `json:"stdout_bytes,omitempty"`
	StderrBytes         *int64 `json:"stderr_bytes,omitempty"`
	GraceMS             *int64 `json:"grace_ms,omitempty"`
	RunningMS           *int64 `json:"running_ms,omitempty"`
	OutputPath          string `json:"output_path,omitempty"`
	OutputBytes         *int64 `json:"output_bytes,omitempty"`
	DetachedAtMS        *int64 `json:"detached_at_ms,omitempty"`
	CompletionTaskID    string `json:"completion_task_id,omitempty"`
	Attempt             *int64 `json:"attempt,omitempty"`
	ReconciledBySession string `json:"reconciled_by_session,omitempty"`
	ReconciledTaskID    string `json:"reconciled_task_id,omitempty"`
}

// Int is n as the value of an optional field.
func Int[N int | int32 | int64 | uint32 | uint64](n N) *int64 {
	v := int64(n)
	return &v
}
