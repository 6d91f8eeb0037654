package detach

import (
	"fmt"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A Report is what the guest is told of works: a [Completion] or a
// [LostReport].
type Report interface {
	// Message is the task that brings the report to the guest.
	Message() Message
}

// A Message is all that a task is made from.
type Message struct {
	// TaskID is the task's id where that had to be known before; else empty.
	TaskID string
	// Source is by which way the task came, for the trace.
	Source     string
	ContextID  string
	Provenance provenance.Provenance
	Text       string
	// Repeated says that the guest may have been told before.
	Repeated bool
}

// The sources of the two kinds of report.
const (
	sourceCompletion = "detached_shell"
	sourceLost       = "detached_lost"
)

// Message tells how the command ended and where its output is. The output
// itself is never in it.
func (c Completion) Message() Message {
	var t text
	t.line("Background shell command finished.")
	t.work(c.ID, c.Binary, c.Command)
	t.field("status", c.Status())
	t.line("exit_code: %d", c.Exit.Code)
	t.line("duration_ms: %d", c.Exit.Duration.Milliseconds())
	t.output(c.Log)
	t.circumstances(c.Exit)
	t.WriteString("\n" + c.missingCopy() + c.whereabouts())
	return Message{Source: sourceCompletion, ContextID: c.ContextID, Provenance: c.Provenance, Text: t.String()}
}

// whereabouts is the prose that ends the report.
func (c Completion) whereabouts() string {
	switch {
	case c.Log.Err != nil:
		return "What it wrote did not reach the workdir; its stdout and stderr are not reproduced here."
	case c.Output.Truncated:
		return "It wrote more than is kept: the file has the first part. Its stdout and stderr are not reproduced here."
	}
	return "Read the file for what it wrote: its stdout and stderr are not reproduced here."
}

// missingCopy says that the copy of the log was not written, if one was to be.
func (c Completion) missingCopy() string {
	if c.Log.CopyErr == nil {
		return ""
	}
	return "The copy of the log that was asked for is missing: " + shell.Quote(c.Log.CopyErr.Error()) + ". "
}

// A LostWork is a work that no record accounts for.
type LostWork struct {
	WorkID, Binary, Command string
	DetachedAtMS            int64
	// Trust is that of the task that started it, and Untrusted if that task is
	// unknown.
	Trust provenance.Trust
}

// A LostReport tells of works of an earlier session that are unaccounted for.
type LostReport struct {
	// Session is the earlier session.
	Session string
	// TaskID is the task that will bring the report to the guest, ContextID
	// that task's context, the resuming session's.
	TaskID, ContextID string
	Works             []LostWork
	// Repeated says that some of them were reported before.
	Repeated bool
}

// NewLostReport reports what a trace leaves unaccounted for.
func NewLostReport(l trace.SessionLosses, contextID string) LostReport {
	r := LostReport{Session: l.Session, TaskID: ids.Task.New(), ContextID: contextID}
	for _, loss := range l.Losses {
		// A provenance that cannot be restored is an unknown task's.
		task, _ := provenance.Restore(loss.Origin, loss.Trust)
		r.Repeated = r.Repeated || loss.Reported
		r.Works = append(r.Works, LostWork{
			WorkID: loss.WorkID, Binary: loss.Binary, Command: loss.Command,
			DetachedAtMS: loss.DetachedAtMS, Trust: task.Trust(),
		})
	}
	return r
}

// Message names the works and says that nothing is known of them. It is as
// trusted as the least trusted among them.
func (r LostReport) Message() Message {
	var t text
	t.line("Background shell commands from an earlier session were never accounted for.")
	t.line("")
	t.line("Session %s was gone before it could write down how they went on. "+
		"Nothing about them was recovered: there is no exit code, no output and no log.", shell.Quote(r.Session))
	var trusts []provenance.Trust
	for _, w := range r.Works {
		t.line("")
		t.work(w.WorkID, w.Binary, w.Command)
		t.line("detached_at_ms: %d", w.DetachedAtMS)
		trusts = append(trusts, w.Trust)
	}
	t.WriteString("\nEach is unknown: it counts neither as succeeded nor as failed. " +
		"Before starting one again, see whether its work is still needed and what it may have left half done.")
	lowest := provenance.Lowest(trusts...)
	return Message{
		TaskID: r.TaskID, Source: sourceLost, ContextID: r.ContextID,
		Provenance: provenance.Derive(provenance.Completion, &lowest), Text: t.String(), Repeated: r.Repeated,
	}
}

// ReportLost writes every work of the report off in the trace of its session,
// old, and only then queues the report. Should the resuming session die before
// its guest has taken the task, the books show just that, and a later resume
// reports the works again.
func (r *Registry) ReportLost(old *trace.Writer, report LostReport, resuming string) error {
	for _, w := range report.Works {
		if err := old.Append(w.event(resuming, report.TaskID)); err != nil {
			return fmt.Errorf("cannot write off %s: %w", w.WorkID, err)
		}
	}
	if err := old.Sync(); err != nil {
		return fmt.Errorf("cannot write off the commands of session %s: %w", report.Session, err)
	}
	r.Report(report)
	return nil
}
