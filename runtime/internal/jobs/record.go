package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Version is the schema version of the records that this build writes. Older
// versions are read; a newer one is set aside until a build comes that knows it.
const Version = 1

// maxFile bounds what is read of one file: a command text of 128 KiB, every
// byte of it escaped, fits.
const maxFile = 2 << 20

const (
	workPrefix = "wrk_"
	hexDigits  = "0123456789abcdef"
	nameChars  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
)

// validWork says whether id is one of a work: what is valid is safe as a file
// name. Written out, for a supervisor has no time to compile expressions.
func validWork(id string) bool {
	digits, ok := strings.CutPrefix(id, workPrefix)
	return ok && digits != "" && len(digits) <= 64 && strings.Trim(digits, hexDigits) == ""
}

func validNonce(nonce string) bool {
	return len(nonce) == 32 && strings.Trim(nonce, hexDigits) == ""
}

// ValidLaunch says whether a launch may have this name: it becomes part of file
// names.
func ValidLaunch(name string) bool {
	return name != "" && len(name) <= 128 && strings.Trim(name, nameChars) == "" &&
		!strings.ContainsAny(name[:1], "._-")
}

// State is how far a work has come. It only ever moves forward.
type State string

// The states.
const (
	// Running is a work whose end is not known.
	Running State = "running"
	// Finished is a work that has an outcome and is owed to a guest.
	Finished State = "finished"
	// Offered is a work whose completion task was queued at least once.
	Offered State = "offered"
	// Taken is a work whose completion task the guest has dealt with.
	Taken State = "taken"
)

// Reason says why a work has no exit code of its own.
type Reason string

// The reasons. A command that ended by itself has none.
const (
	OwnershipLost     Reason = "ownership_lost"
	Killed            Reason = "killed"
	TimedOut          Reason = "timed_out"
	Died              Reason = "died"
	ResultUnavailable Reason = "result_unavailable"
)

// Identity names one process for as long as the machine runs: a pid alone is
// another process's a few seconds later.
type Identity struct {
	PID int `json:"pid"`
	// StartTime is in clock ticks since boot, as the kernel counts them.
	StartTime uint64 `json:"start_time"`
	BootID    string `json:"boot_id"`
	PGID      int    `json:"pgid"`
}

// Survivor is a process named to a person.
type Survivor struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
}

// Outcome is how a work ended.
type Outcome struct {
	// ExitCode is the exit code, 128+n after signal n, and -1 with a Reason.
	ExitCode    int        `json:"exit_code"`
	Signal      string     `json:"signal,omitempty"`
	Reason      Reason     `json:"reason,omitempty"`
	Limit       string     `json:"limit,omitempty"`
	WaitErr     string     `json:"wait_error,omitempty"`
	LeftRunning []Survivor `json:"left_running,omitempty"`
	Survivors   []Survivor `json:"survivors,omitempty"`
	// DurationMS counts from the spawn to the end.
	DurationMS int64 `json:"duration_ms"`
	// EndedAt is in milliseconds since the epoch.
	EndedAt int64 `json:"ended_at"`
}

// OK says whether the command ended by itself with exit code 0, within its
// limits and observed.
func (o Outcome) OK() bool {
	return o.ExitCode == 0 && o.Reason == "" && o.WaitErr == "" && o.Limit == ""
}

// Output tells where the captured streams are and how much was written.
type Output struct {
	StdoutPath  string `json:"stdout_path"`
	StderrPath  string `json:"stderr_path"`
	StdoutBytes int64  `json:"stdout_bytes"`
	StderrBytes int64  `json:"stderr_bytes"`
	// Truncated says that output over the cap was dropped.
	Truncated bool `json:"output_truncated,omitempty"`
}

// Record is one work. Times are milliseconds since the epoch.
type Record struct {
	Version int    `json:"version"`
	WorkID  string `json:"work_id"`
	// Launch is the name under which the command was started.
	Launch string `json:"launch"`
	// Nonce is known to the work's supervisor and to the state directory.
	Nonce   string `json:"nonce"`
	Session string `json:"session"`
	Task    string `json:"task,omitempty"`
	// ContextID, Origin and Trust are those of the task that started the
	// command, as text: they mean nothing here.
	ContextID string `json:"context_id,omitempty"`
	Origin    string `json:"origin,omitempty"`
	Trust     string `json:"trust,omitempty"`
	Capsule   string `json:"capsule"`
	// OwnerUID is the user the session belongs to.
	OwnerUID int    `json:"owner_uid"`
	Workdir  string `json:"workdir"`
	Binary   string `json:"binary"`
	// Command is the text as the guest wrote it.
	Command string `json:"command"`
	// LogPath is where the guest wants a copy of the log, relative to the
	// workdir.
	LogPath   string   `json:"log_path,omitempty"`
	Identity  Identity `json:"identity"`
	StartedAt int64    `json:"started_at"`
	DemotedAt int64    `json:"demoted_at"`
	// Implicit says that no handle was ever returned: the runtime went away
	// while the command ran.
	Implicit     bool            `json:"implicit,omitempty"`
	MaxRuntimeMS int64           `json:"max_runtime_ms,omitempty"`
	State        State           `json:"state"`
	Outcome      *Outcome        `json:"outcome,omitempty"`
	Output       Output          `json:"output"`
	Receipt      json.RawMessage `json:"containment,omitempty"`
	// StopRequestedAt is set before anything is signalled, so that a stop that
	// is cut short is gone on with.
	StopRequestedAt int64 `json:"stop_requested_at,omitempty"`
	// KillFailed counts the teardowns that could not be proven.
	KillFailed int `json:"kill_failed,omitempty"`
	// Attempts counts the deliveries; the Offered fields describe the last.
	Attempts       int    `json:"attempts,omitempty"`
	OfferedAt      int64  `json:"offered_at,omitempty"`
	OfferedSession string `json:"offered_session,omitempty"`
	OfferedTask    string `json:"offered_task,omitempty"`
	// GivenUpBy is the last session that stopped trying to deliver.
	GivenUpBy string `json:"given_up_by,omitempty"`
	TakenAt   int64  `json:"taken_at,omitempty"`
}

// Age is how long ago the command was started.
func (r Record) Age(now time.Time) time.Duration {
	return now.Sub(time.UnixMilli(r.StartedAt))
}

// MaxRuntime is the command's limit; zero stands for none.
func (r Record) MaxRuntime() time.Duration {
	return time.Duration(r.MaxRuntimeMS) * time.Millisecond
}

// Status is "running", or how the work ended: "done" for exit code 0, else
// "failed".
func (r Record) Status() string {
	switch {
	case r.State == Running || r.Outcome == nil:
		return "running"
	case r.Outcome.OK():
		return "done"
	default:
		return "failed"
	}
}

var errNewer = errors.New("written by a newer version")

// decodeRecord reads a record that must be the one of work.
func decodeRecord(work string, data []byte) (Record, error) {
	var r Record
	if err := decode(data, &r); err != nil {
		return Record{}, err
	}
	if r.WorkID != work {
		return Record{}, fmt.Errorf("it names %q", r.WorkID)
	}
	return r, r.check()
}

// decode reads exactly one JSON value of a version this build knows.
func decode(data []byte, into any) error {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	if head.Version > Version {
		return fmt.Errorf("version %d: %w", head.Version, errNewer)
	}
	if head.Version < 1 {
		return fmt.Errorf("no such version: %d", head.Version)
	}
	// Text that follows the value was refused by Unmarshal.
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func (r Record) check() error {
	switch {
	case !validWork(r.WorkID):
		return fmt.Errorf("bad work id %q", r.WorkID)
	case !ValidLaunch(r.Launch):
		return fmt.Errorf("bad launch name %q", r.Launch)
	case !validNonce(r.Nonce):
		return errors.New("bad nonce")
	case r.Session == "" || r.Capsule == "" || r.Workdir == "":
		return errors.New("it has no session, capsule or workdir")
	case r.MaxRuntimeMS < 0 || r.KillFailed < 0 || r.Attempts < 0:
		return errors.New("a negative count")
	}
	return r.checkState()
}

func (r Record) checkState() error {
	switch r.State {
	case Running:
		if r.Outcome != nil {
			return errors.New("running with an outcome")
		}
	case Finished, Offered, Taken:
		if r.Outcome == nil {
			return fmt.Errorf("%s without an outcome", r.State)
		}
	default:
		return fmt.Errorf("bad state %q", r.State)
	}
	return nil
}

func encode(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}
