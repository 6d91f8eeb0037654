package shell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
)

// foregroundLog is the kind of the names of full logs of foreground commands.
const foregroundLog ids.Kind = "cmd_"

// A Status is how a guest sees a call: its number is that of the WIT enum.
type Status uint8

// The statuses. A call that failed ran and did not exit with 0, or met a limit;
// one with an error did not run.
const (
	Passed Status = iota
	Failed
	Error
)

// A Pair is one entry of a result's metadata.
type Pair struct{ Key, Value string }

// A Result is what a call returns to the guest.
type Result struct {
	Status Status
	// Summary, Data and DataPath are absent where nil.
	Summary, Data, DataPath *string
	Truncated               bool
	Metadata                []Pair
}

// Refusal is the result of a request that was not run, and why.
func Refusal(err error) Result {
	summary := cleanLine(err.Error())
	return Result{Status: Error, Summary: &summary}
}

// cleanLine makes one line of text that may hold what a guest wrote.
func cleanLine(s string) string {
	text, _ := Clean([]byte(s), 1<<10)
	return strings.ReplaceAll(text, "\n", " ")
}

// Foreground is the result of a command that has ended. If a stream is longer
// than what is shown, the full log is written to the workdir; so is the copy
// that the request asks for. A log that cannot be written is said so in the
// result, and keeps nobody from the rest.
func Foreground(w *Workdir, r Request, p Process) Result {
	exit, out := p.Exit(), p.Output()
	f := foreground{Log: Log{r.Text(), exit, out}, workdir: w}
	stdout, cutOut := f.inline(out.StdoutPath, out.StdoutBytes)
	stderr, cutErr := f.inline(out.StderrPath, out.StderrBytes)
	f.truncated = cutOut || cutErr || out.Truncated
	f.writeLogs(r.LogPath)
	return f.result(stdout, stderr)
}

type foreground struct {
	Log
	workdir   *Workdir
	truncated bool
	dataPath  *string
	notes     strings.Builder
}

// inline shows the head of a stream, and says whether there is more.
func (f *foreground) inline(path string, size int64) (string, bool) {
	if size == 0 {
		return "", false
	}
	text, cut, err := inline(path, inlineLimit(size))
	if err != nil {
		fmt.Fprintf(&f.notes, "capture_error: %s\n", Quote(err.Error()))
	}
	return text, cut || size > InlineLimit
}

func (f *foreground) writeLogs(copy *string) {
	if f.truncated {
		name := WorkLog(foregroundLog.New())
		if f.writeLog(name) {
			f.dataPath = &name
		}
	}
	if copy != nil {
		f.writeLog(*copy)
	}
}

func (f *foreground) writeLog(name string) bool {
	_, err := f.workdir.WriteLog(name, f.Log)
	if err != nil {
		fmt.Fprintf(&f.notes, "log_error: %s\n", Quote(err.Error()))
	}
	return err == nil
}

func (f *foreground) result(stdout, stderr string) Result {
	if f.Output.Err != "" {
		fmt.Fprintf(&f.notes, "capture_error: %s\n", Quote(f.Output.Err))
	}
	head := Log{cut(f.Command, maxReported), f.Exit, f.Output}
	data := header(head.Command, head.Exit) + f.notes.String() +
		"Stdout:\n" + line(stdout) + "Stderr:\n" + line(stderr)
	summary := f.Exit.summary()
	return Result{
		Status:    f.Exit.status(),
		Summary:   &summary,
		Data:      &data,
		DataPath:  f.dataPath,
		Truncated: f.truncated,
		Metadata:  f.Exit.metadata(),
	}
}

// line ends a text that is not empty with a newline.
func line(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func (e Exit) status() Status {
	if e.OK() {
		return Passed
	}
	return Failed
}

func (e Exit) summary() string {
	after := fmt.Sprintf("after %d ms", e.Duration.Milliseconds())
	switch {
	case e.Reason == ReasonTimedOut:
		return "Command timed out and was ended " + after + "."
	case e.Reason != "":
		return fmt.Sprintf("Command was ended %s: %s.", after, e.Reason)
	case e.WaitErr != "":
		return "The end of the command could not be observed."
	case e.Limit != "":
		return fmt.Sprintf("Command met the limit %s (exit code %d).", e.Limit, e.Code)
	case e.Signal != "":
		return fmt.Sprintf("Command was ended by %s (exit code %d).", e.Signal, e.Code)
	}
	return fmt.Sprintf("Command finished with exit code %d.", e.Code)
}

func (e Exit) metadata() []Pair {
	m := []Pair{
		{"exit_code", strconv.Itoa(e.Code)},
		{"duration_ms", strconv.FormatInt(e.Duration.Milliseconds(), 10)},
	}
	for _, p := range []Pair{
		{"signal", e.Signal},
		{"reason", string(e.Reason)},
		{"resource_limit", e.Limit},
		{"left_running", SurvivorList(e.LeftRunning)},
		{"survivors", SurvivorList(e.Survivors)},
		{"wait_error", e.WaitErr},
	} {
		if p.Value != "" {
			m = append(m, p)
		}
	}
	return m
}
