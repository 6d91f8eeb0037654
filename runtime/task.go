package runtime

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A Task is a message for the guest.
type Task struct {
	// Origin says where the message comes from; the lane it waits in and the
	// trust it carries follow from it.
	Origin provenance.Origin
	// Inherited is the trust of the task that sent a peer message. It counts
	// for the origins peer and completion alone; nil means that none is known.
	Inherited *provenance.Trust
	// Message is the text the guest gets: valid UTF-8.
	Message string
	// ContextID names the conversation that the task belongs to. Empty starts a
	// new one. At most 256 printable characters of ASCII, without spaces.
	ContextID string
	// Source says by which way the task came, for the trace. Defaults to "api".
	Source string
}

// Sources of tasks, as the trace names them.
const (
	SourceCLI           = "cli"
	SourceAPI           = "api"
	SourceDetachedShell = "detached_shell"
	SourceDetachedLost  = "detached_lost"
)

// Status tells how a task ended.
type Status string

// The two ways a task can end.
const (
	StatusOK    Status = "ok"
	StatusError Status = "error"
)

// A TaskResult is what came of one task.
type TaskResult struct {
	TaskID    string            `json:"task_id"`
	ContextID string            `json:"context_id"`
	Source    string            `json:"source"`
	Origin    provenance.Origin `json:"origin"`
	Trust     provenance.Trust  `json:"trust"`
	Status    Status            `json:"status"`
	// Result is the guest's answer, or with StatusError what went wrong.
	Result string `json:"result"`
	// Duration counts from the moment the guest got the task.
	Duration time.Duration `json:"-"`
	// ShellCalls counts the calls of murmur:tool/run during the task.
	ShellCalls int `json:"-"`
	// Repeated says that the guest may have seen this task before.
	Repeated bool `json:"-"`
	// Err is the typed cause of a StatusError that is not the guest's own
	// answer: a trap, a limit, a cancellation.
	Err error `json:"-"`
}

// ErrTaskDropped is the cause of a task that a session's end left unstarted.
var ErrTaskDropped = errors.New("the session ended before the task was started")

// A Ticket stands for a submitted task.
type Ticket struct {
	id     string
	done   chan struct{}
	once   sync.Once
	result TaskResult
	cancel func()
}

// TaskID is the id under which the trace and the result name the task.
func (t *Ticket) TaskID() string { return t.id }

// Done is closed once the task has ended.
func (t *Ticket) Done() <-chan struct{} { return t.done }

// Wait waits for the task's end. The error is ctx's; how the task went is in
// the result.
func (t *Ticket) Wait(ctx context.Context) (TaskResult, error) {
	select {
	case <-t.done:
		return t.result, nil
	case <-ctx.Done():
		return TaskResult{}, ctx.Err()
	}
}

// Cancel ends the task: a waiting one never starts, and the guest of a running
// one is closed. A command that the guest was waiting for is not killed: it is
// demoted, and its completion comes as a task of its own.
func (t *Ticket) Cancel() { t.cancel() }

func (t *Ticket) finish(r TaskResult) {
	t.once.Do(func() {
		t.result = r
		close(t.done)
	})
}
