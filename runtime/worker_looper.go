package runtime

import (
	"context"
	"errors"

	"github.com/murmur-capsule/murmur/host"
)

var (
	errLoopEnded  = errors.New("the guest's loop returned without settling the task")
	errNotSettled = errors.New("the guest asked for the next task without settling this one")
)

// A looperWorker serves a guest that takes its own tasks from the imported
// queue. The guest's loop runs in a goroutine of its own; tasks go to it, and
// outcomes come back, over channels.
type looperWorker struct {
	s    *Session
	loop *guestLoop // nil while no guest runs
}

// A guestLoop is one run of the guest's loop.
type guestLoop struct {
	tasks    chan *task
	outcomes chan outcome
	stop     context.CancelFunc
	ended    chan struct{}
	err      error // why the loop returned; read after ended

	// holding is the task that the guest has and did not settle. It belongs to
	// the guest's goroutine.
	holding *task
	inst    *host.Instance
}

func newLooperWorker(s *Session) *looperWorker { return &looperWorker{s: s} }

func (w *looperWorker) run(ctx context.Context, t *task) outcome {
	fresh := w.loop == nil
	if fresh {
		loop, err := w.start(ctx)
		if err != nil {
			return broken(err)
		}
		w.loop = loop
	}
	loop := w.loop
	stop := context.AfterFunc(ctx, loop.stop)
	defer stop()
	select {
	case loop.tasks <- t:
	case <-loop.ended:
		// Whatever ended the loop between two tasks, this one has no part in it
		// and gets a fresh run; but a loop that takes no task at all has failed.
		w.close()
		if !fresh && ctx.Err() == nil {
			return w.run(ctx, t)
		}
		return broken(loop.failure(ctx))
	}
	select {
	case out := <-loop.outcomes:
		return out
	case <-loop.ended:
		w.close()
		return w.afterEnd(ctx, loop)
	}
}

// afterEnd tells what became of a task whose guest is gone. A guest may settle
// and return at once: what it settled counts.
func (w *looperWorker) afterEnd(ctx context.Context, loop *guestLoop) outcome {
	select {
	case out := <-loop.outcomes:
		return out
	default:
		return broken(loop.failure(ctx))
	}
}

func (l *guestLoop) failure(ctx context.Context) error {
	switch {
	case l.err != nil:
		return l.err
	case ctx.Err() != nil:
		return host.ErrCanceled
	}
	return errLoopEnded
}

func (w *looperWorker) start(ctx context.Context) (*guestLoop, error) {
	// The loop outlives the task that happened to start it.
	loopCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	loop := &guestLoop{
		tasks:    make(chan *task),
		outcomes: make(chan outcome, 1),
		ended:    make(chan struct{}),
		stop:     stop,
	}
	inst, err := w.s.instantiate(loopCtx, host.InstanceConfig{Plugins: []*host.Plugin{loop.plugin()}})
	if err != nil {
		stop()
		return nil, err
	}
	loop.inst = inst
	go func() {
		defer close(loop.ended)
		defer w.s.closeInstance(inst)
		loop.err = inst.RunLoop(loopCtx)
	}()
	return loop, nil
}

// next hands the guest its next task, and none once the session is over.
func (l *guestLoop) next(ctx context.Context) (*queuedTask, error) {
	if l.holding != nil {
		l.holding = nil
		l.outcomes <- broken(errNotSettled)
	}
	select {
	case t, ok := <-l.tasks:
		if !ok {
			return nil, nil
		}
		l.holding = t
		l.inst.ResetCompute()
		return queued(t), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *guestLoop) settle(_ context.Context, r host.Result[string, string]) error {
	if l.holding == nil {
		return errors.New("settle was called with no task to settle")
	}
	l.holding = nil
	if r.IsErr {
		l.outcomes <- answered(r.Err, true)
	} else {
		l.outcomes <- answered(r.OK, false)
	}
	return nil
}

func (l *guestLoop) plugin() *host.Plugin {
	return host.NewPlugin("murmur:task/queue@0.1.0",
		host.Func0("next", l.next),
		host.Proc1("settle", l.settle),
	)
}

// close tells the guest that the session is over and waits for its loop to
// return.
func (w *looperWorker) close() {
	loop := w.loop
	if loop == nil {
		return
	}
	w.loop = nil
	close(loop.tasks)
	<-loop.ended
	loop.stop()
}
