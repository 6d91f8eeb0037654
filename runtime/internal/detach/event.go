package detach

import "github.com/murmur-capsule/murmur/runtime/internal/trace"

// Event is the work's shell_detached.
func (w Work) Event() trace.Event {
	return trace.Event{
		Type: trace.ShellDetached, TaskID: w.TaskID, WorkID: w.ID, Binary: w.Binary, Command: w.Command,
		GraceMS: trace.Int(w.Grace.Milliseconds()),
	}
}

// Event is the completion's shell_completed; task is the id of the task that
// brings it to the guest.
func (c Completion) Event(task string) trace.Event {
	e := trace.Event{
		Type: trace.ShellCompleted, WorkID: c.ID, Binary: c.Binary, Command: c.Command,
		Status: c.Status(), DurationMS: trace.Int(c.Exit.Duration.Milliseconds()),
		Reason: string(c.Exit.Reason), ResourceLimit: c.Exit.Limit, CompletionTaskID: task,
	}
	c.result(&e)
	return e
}

// result adds how the command ended and where its output is, which travel
// together: where no log could be written, its place is named with no bytes.
func (c Completion) result(e *trace.Event) {
	e.ExitCode = trace.Int(c.Exit.Code)
	e.OutputBytes = trace.Int(c.Log.Bytes)
	e.OutputPath = c.Log.Path
	if e.OutputPath == "" {
		e.OutputPath = c.LogPath()
	}
}

// Event is the remnant's shell_carried, if it is durable, or shell_abandoned.
func (r Remnant) Event() trace.Event {
	e := trace.Event{
		Type: trace.ShellAbandoned, WorkID: r.ID, Binary: r.Binary, Command: r.Command,
		RunningMS: trace.Int(r.RunningFor().Milliseconds()),
	}
	switch {
	case r.Durable:
		e.Type = trace.ShellCarried
	case r.Finished != nil:
		r.Finished.result(&e)
	}
	return e
}

// event is the work's shell_lost, for the trace of its own session.
func (w LostWork) event(session, task string) trace.Event {
	return trace.Event{
		Type: trace.ShellLost, WorkID: w.WorkID, Binary: w.Binary, Command: w.Command,
		DetachedAtMS: trace.Int(w.DetachedAtMS), ReconciledBySession: session, ReconciledTaskID: task,
	}
}
