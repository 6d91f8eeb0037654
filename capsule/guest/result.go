package guest

import "strconv"

// Status tells how a tool call ended.
type Status uint8

const (
	// StatusPassed means that the command exited with 0 or was demoted.
	StatusPassed Status = iota
	// StatusFailed means that the command ran and exited otherwise, or met a
	// limit.
	StatusFailed
	// StatusError means that the command did not run.
	StatusError
)

var statusNames = [...]string{"passed", "failed", "error"}

// String returns the status's name, such as "passed".
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns the status's name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Pair is one entry of a result's metadata.
type Pair struct {
	// Key is the entry's name, such as "exit_code".
	Key string
	// Value is its value, as text.
	Value string
}

// A Result is what came of a tool call. An absent text is the empty string.
type Result struct {
	// Status tells how the call ended.
	Status Status
	// Summary is one line on the outcome.
	Summary string
	// Data shows the command, its exit code and the beginning of its output.
	// For a demoted command it says so.
	Data string
	// DataPath is the file with the whole output, relative to the workdir, if
	// Data does not show all of it.
	DataPath string
	// Truncated is true if Data does not show all of the output.
	Truncated bool
	// Metadata holds exit_code, duration_ms and what else applies, in the order
	// in which the runtime gave them.
	Metadata []Pair
}

// Get returns the value of the first metadata entry named key, and whether
// there is one.
func (r Result) Get(key string) (string, bool) {
	for _, p := range r.Metadata {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

// ExitCode returns the command's exit code. It reports false if the command
// did not run, or has not ended.
func (r Result) ExitCode() (int, bool) {
	text, ok := r.Get("exit_code")
	if !ok {
		return 0, false
	}
	code, err := strconv.Atoi(text)
	return code, err == nil
}

// Demoted reports whether the command goes on in the background. A later task
// of origin completion tells how it ended.
func (r Result) Demoted() bool {
	_, ok := r.Get("work_id")
	return ok
}
