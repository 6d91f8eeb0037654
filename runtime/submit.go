package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/queue"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// MaxMessage is the greatest length of a task's message, in bytes.
const MaxMessage = 16 << 20

// maxContextID bounds the id of a context, in bytes.
const maxContextID = 256

// ErrSessionEnded refuses a task that comes after the session's end.
var ErrSessionEnded = errors.New("the session has ended")

// A RefusedError says why a task was not admitted. The session goes on.
type RefusedError struct{ Why error }

// Error names the rule that refused the task.
func (e *RefusedError) Error() string { return "the task was not admitted: " + e.Why.Error() }

// Unwrap is the reason.
func (e *RefusedError) Unwrap() error { return e.Why }

// A task is one message on its way through the session.
type task struct {
	id, contextID, message, source string

	prov     provenance.Provenance
	ticket   *Ticket
	delivery *delivery // what a completion or a lost report delivers
	repeated bool

	ctx    context.Context
	cancel context.CancelFunc

	started time.Time
	calls   int64 // shell calls; the guest makes them one at a time
	ran     bool  // it was marked as having started a command
}

// Origin decides on the lane that the task waits in.
func (t *task) Origin() provenance.Origin { return t.prov.Origin() }

// Submit hands the session a task. It does not wait: a task that the
// lifecycle does not admit now is refused with a [*RefusedError].
func (s *Session) Submit(_ context.Context, t Task) (*Ticket, error) {
	item, err := s.newTask(t)
	if err != nil {
		return nil, err
	}
	if err := s.admit(item); err != nil {
		item.cancel()
		return nil, err
	}
	return item.ticket, nil
}

// admit makes the task durable and queues it, in that order: what a caller was
// told is admitted is not lost.
func (s *Session) admit(t *task) error {
	if err := s.pending.save(t); err != nil {
		return err
	}
	s.account.add(1)
	if err := s.queue.Push(t); err != nil {
		s.account.add(-1)
		s.pending.forget(t.id)
		return refusal(err)
	}
	return nil
}

// SubmitWhenAdmitted is [Session.Submit] that waits while the queue is full.
func (s *Session) SubmitWhenAdmitted(ctx context.Context, t Task) (*Ticket, error) {
	for {
		room := s.queue.Room()
		ticket, err := s.Submit(ctx, t)
		if !errors.Is(err, queue.ErrFull) {
			return ticket, err
		}
		select {
		case <-room:
		case <-s.done:
			return nil, ErrSessionEnded
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func refusal(err error) error {
	if errors.Is(err, queue.ErrClosed) {
		return ErrSessionEnded
	}
	return &RefusedError{Why: err}
}

func (s *Session) newTask(t Task) (*task, error) {
	if len(t.Message) > MaxMessage {
		return nil, fmt.Errorf("the message has %d bytes, over the limit of %d", len(t.Message), MaxMessage)
	}
	if !utf8.ValidString(t.Message) {
		return nil, errors.New("the message is not valid UTF-8")
	}
	if len(t.ContextID) > maxContextID || strings.IndexFunc(t.ContextID, notInID) >= 0 {
		return nil, fmt.Errorf("the context id is not at most %d printable characters of ASCII: %s", maxContextID, shell.Quote(t.ContextID[:min(len(t.ContextID), maxContextID)]))
	}
	if t.Source == "" {
		t.Source = SourceAPI
	}
	return s.mintTask(t, provenance.Derive(t.Origin, t.Inherited)), nil
}

// notInID tells whether a character is none of an id's: contexts may be named by
// somebody else, and go into environments, traces and what people read.
func notInID(r rune) bool { return r <= ' ' || r > '~' }

// mintTask gives a task its ids.
func (s *Session) mintTask(t Task, prov provenance.Provenance) *task {
	if t.ContextID == "" {
		t.ContextID = ids.Context.New()
	}
	item := &task{
		id: ids.Task.New(), contextID: t.ContextID, message: t.Message, source: t.Source, prov: prov,
	}
	item.ctx, item.cancel = context.WithCancel(s.ctx)
	item.ticket = &Ticket{id: item.id, done: make(chan struct{}), cancel: item.cancel}
	return item
}
