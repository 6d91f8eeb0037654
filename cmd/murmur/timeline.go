package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/murmur-capsule/murmur/runtime"
)

// maxShown is how many characters of a command a timeline shows.
const maxShown = 100

// A timeline shows a session's events to a person, one line each.
type timeline struct {
	w     io.Writer
	style style
	// receipts says whether what contains the commands is shown in full.
	receipts bool
	start    int64 // when the session started, in milliseconds since the epoch
}

// show prints one event.
func (t *timeline) show(e runtime.Event) {
	if t.start == 0 {
		t.start = e.Timestamp
	}
	since := time.Duration(e.Timestamp-t.start) * time.Millisecond
	what, subject, rest := t.describe(e)
	fmt.Fprintf(t.w, "%s  %s %-12s %s\n", t.style.dim(fmt.Sprintf("%+9.2fs", since.Seconds())), what, subject, printable(rest))
	if r := receiptOf(e); r != nil && t.receipts {
		receiptWriter{t.w, t.style}.show(r)
	}
}

// describe says what happened, to whom, and how.
func (t *timeline) describe(e runtime.Event) (what, subject, rest string) {
	s := t.style
	plain := func(what string) string { return fmt.Sprintf("%-11s", what) }
	switch e.Type {
	case "session_start":
		return plain("session"), "", sessionText(e)
	case "session_end":
		return s.ended(plain("session end"), e.ExitStatus), "", countsText(e)
	case "task_start":
		return plain("task"), short(e.TaskID), taskText(e)
	case "task_end":
		return s.ended(plain("task end"), e.ExitStatus), short(e.TaskID), taskEndText(e)
	case "shell":
		return s.exited(plain("command"), e), short(e.TaskID), commandText(e) + " · " + exitText(e)
	case "shell_detached":
		return s.odd(plain("demoted")), short(e.WorkID), fmt.Sprintf("%s · after a grace of %s", commandText(e), ms(e.GraceMS))
	case "shell_completed":
		return s.ended(plain("completed"), e.Status), short(e.WorkID), fmt.Sprintf("%s · %s (%d bytes)", exitText(e), e.OutputPath, value(e.OutputBytes))
	case "shell_abandoned":
		return s.odd(plain("abandoned")), short(e.WorkID), remnantText(e)
	case "shell_carried":
		return s.odd(plain("carried")), short(e.WorkID), fmt.Sprintf("%s · outlived the session, %s so far", commandText(e), ms(e.RunningMS))
	case "shell_lost":
		return s.bad(plain("lost")), short(e.WorkID), fmt.Sprintf("%s · told to %s", commandText(e), short(e.ReconciledBySession))
	case "shell_followed_up":
		return plain("followed up"), short(e.WorkID), fmt.Sprintf("by %s, attempt %d", short(e.CompletionTaskID), value(e.Attempt))
	}
	return plain(printable(e.Type)), "", ""
}

// ended colours what ended well or not.
func (s style) ended(what, status string) string {
	if status == "ok" {
		return s.good(what)
	}
	return s.bad(what)
}

func (s style) exited(what string, e runtime.Event) string {
	if value(e.ExitCode) == 0 && e.ResourceLimit == "" && e.Reason == "" {
		return what
	}
	return s.odd(what)
}

func sessionText(e runtime.Event) string {
	text := fmt.Sprintf("%s %s, session %s", e.Capsule, e.Version, e.SessionID)
	if e.Workdir != "" {
		text += " in " + e.Workdir
	}
	if e.ResumedFrom != "" {
		text += ", resumed from " + e.ResumedFrom
	}
	if r := receiptOf(e); r != nil {
		text += ", containment " + string(r.Class)
	}
	return text
}

func countsText(e runtime.Event) string {
	text := fmt.Sprintf("%s, %d failed", count(value(e.Tasks), "task"), value(e.TasksFailed))
	if n := value(e.Detached); n > 0 {
		text += ", " + count(n, "command") + " demoted"
	}
	if n := value(e.Outstanding); n > 0 {
		text += fmt.Sprintf(", %d outstanding", n)
	}
	return text
}

func taskText(e runtime.Event) string {
	text := fmt.Sprintf("%s %s · from %s, %s", e.Origin, e.Trust, e.Source, count(value(e.MessageBytes), "byte"))
	if e.Repeated {
		text += " · repeated"
	}
	return text
}

func taskEndText(e runtime.Event) string {
	return fmt.Sprintf("%s after %s, %s", e.ExitStatus, ms(e.DurationMS), count(value(e.ShellCalls), "command"))
}

func commandText(e runtime.Event) string {
	return fmt.Sprintf("%s · %s", base(e.Binary), shorten(e.Command, maxShown))
}

func exitText(e runtime.Event) string {
	parts := []string{fmt.Sprintf("exit %d after %s", value(e.ExitCode), ms(e.DurationMS))}
	if e.Reason != "" {
		parts = append(parts, e.Reason)
	}
	if e.ResourceLimit != "" {
		parts = append(parts, "limit "+e.ResourceLimit)
	}
	if e.StdoutBytes != nil {
		parts = append(parts, fmt.Sprintf("%d+%d bytes", value(e.StdoutBytes), value(e.StderrBytes)))
	}
	return strings.Join(parts, ", ")
}

func remnantText(e runtime.Event) string {
	if e.ExitCode != nil {
		return fmt.Sprintf("%s · exit %d after %s, too late to be told", commandText(e), value(e.ExitCode), ms(e.RunningMS))
	}
	return fmt.Sprintf("%s · still running after %s", commandText(e), ms(e.RunningMS))
}

// short is an id by its kind and its last digits, which tell it from others.
func short(id string) string {
	const kind, tail = len("ses_"), 8
	if len(id) <= kind+tail || !strings.Contains(id[:kind], "_") {
		return printable(id)
	}
	return printable(id[:kind] + id[len(id)-tail:])
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// ms is a number of milliseconds as a person reads it.
func ms(n *int64) string {
	d := time.Duration(value(n)) * time.Millisecond
	if d < time.Second {
		return d.String()
	}
	return d.Round(10 * time.Millisecond).String()
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
