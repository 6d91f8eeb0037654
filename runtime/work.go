package runtime

import (
	"context"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
)

// A Work is a handle on one command that runs in the background. It acts on
// that command alone, and only while the session that started it holds it.
type Work struct{ h detach.Handle }

// Outstanding lists the session's background commands that have not been
// reported yet, in the order in which they were demoted.
func (s *Session) Outstanding() []*Work {
	handles := s.registry.Outstanding()
	works := make([]*Work, len(handles))
	for i, h := range handles {
		works[i] = &Work{h}
	}
	return works
}

// ID names the command in reports and in the trace.
func (w *Work) ID() string { return w.h.Work().ID }

// Binary is the resolved path of the command's binary.
func (w *Work) Binary() string { return w.h.Work().Binary }

// Command is the command's text as the guest wrote it, or its arguments,
// quoted.
func (w *Work) Command() string { return w.h.Work().Command }

// TaskID is the task that started the command.
func (w *Work) TaskID() string { return w.h.Work().TaskID }

// Started is when the command was spawned.
func (w *Work) Started() time.Time { return w.h.Work().Started }

// Running is how long the command has run, or ran.
func (w *Work) Running() time.Duration { return w.h.Running() }

// OutputBytes is how much the command wrote so far to standard output and to
// standard error.
func (w *Work) OutputBytes() (stdout, stderr int64) {
	out := w.h.Output()
	return out.StdoutBytes, out.StderrBytes
}

// OutputFiles are the files that the command's standard output and standard
// error are captured in. They are for reading while the command runs, and gone
// some time after it has ended.
func (w *Work) OutputFiles() (stdout, stderr string) {
	out := w.h.Output()
	return out.StdoutPath, out.StderrPath
}

// Ended is closed once the command has ended.
func (w *Work) Ended() <-chan struct{} { return w.h.Ended() }

// Stop ends the command's processes (TERM, two seconds, KILL) and waits for
// that. The guest was promised a task and gets it, with the reason killed. A
// command that has ended is left as it is.
func (w *Work) Stop(ctx context.Context) error { return w.h.Stop(ctx) }
