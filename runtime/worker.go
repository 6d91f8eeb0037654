package runtime

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

// A worker hands tasks to a guest in the guest's own way of taking work. The
// session calls it from one goroutine.
type worker interface {
	// run gives t to the guest and returns when the guest is through with it.
	run(ctx context.Context, t *task) outcome
	// close ends the guest.
	close()
}

// An outcome is what a guest made of a task.
type outcome struct {
	text string
	// failed says that text is the guest's own error.
	failed bool
	// err is why the guest did not answer: a trap, a limit, a cancellation.
	err error
	// taken says that the guest was through with the task by its own doing: a
	// completion that was not taken is delivered again.
	taken bool
}

func answered(text string, failed bool) outcome {
	return outcome{text: text, failed: failed, taken: true}
}

func broken(err error) outcome { return outcome{err: err} }

func (o outcome) status() Status {
	if o.failed || o.err != nil {
		return StatusError
	}
	return StatusOK
}

func (o outcome) String() string {
	if o.err != nil {
		return o.err.Error()
	}
	return o.text
}

// newWorker picks the worker for the guest's way of taking work.
func newWorker(s *Session) worker {
	if s.opts.testOnlyWorker != nil {
		return s.opts.testOnlyWorker(s)
	}
	switch s.capsule.way {
	case host.Looper:
		return newLooperWorker(s)
	case host.Command:
		return &commandWorker{s: s}
	default:
		return &handlerWorker{s: s}
	}
}
