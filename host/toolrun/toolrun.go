// Package toolrun is murmur:tool/run, the one power that a capsule has beside
// WASI: to ask for a shell command. It holds the shapes of the interface as Go
// types, and the plugin that serves it from any [Shell].
package toolrun

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

// Interface is the name of the interface that the plugin serves.
const Interface = "murmur:tool/run@0.1.0"

// A Status is how a command came out: WIT's enum status.
type Status uint8

// The statuses, in the order of the WIT.
const (
	// Passed: it ran and exited with 0, or it was demoted.
	Passed Status = iota
	// Failed: it ran, and exited with something else or met a limit.
	Failed
	// Error: it did not run.
	Error
)

var statusNames = []string{"passed", "failed", "error"}

// WITEnum are the names of the cases.
func (Status) WITEnum() []string { return statusNames }

// String is the status as WIT names it.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "invalid status"
}

// Input is what a guest asks for: WIT's record tool-input.
type Input struct {
	// Data is the shell request, in JSON.
	Data *string
	// LogPath, if given, is where in the workdir a copy of the full log goes.
	LogPath *string
}

// Result is what a guest gets: WIT's record tool-result.
type Result struct {
	Status Status
	// Summary says in one line what happened.
	Summary *string
	// Data is the text for the guest to read.
	Data *string
	// DataPath names the full log in the workdir, if Data is not all of it.
	DataPath *string
	// Truncated tells that Data is not all of it.
	Truncated bool
	// Metadata are the facts of the run, by name.
	Metadata []Pair
}

// A Pair is one fact: WIT's tuple<string, string>.
type Pair struct{ Key, Value string }

// WITTuple says that a pair is a tuple, and no record.
func (Pair) WITTuple() {}

// A Shell runs what guests ask for.
type Shell interface {
	// Run serves one request. It returns when ctx is done, whatever runs. It
	// never fails: what went wrong is in the result.
	Run(ctx context.Context, in Input) Result
}

// Plugin serves murmur:tool/run from a shell.
func Plugin(shell Shell) *host.Plugin {
	return host.NewPlugin(Interface, host.Func1("run", func(ctx context.Context, in Input) (Result, error) {
		return shell.Run(ctx, in), nil
	}))
}
