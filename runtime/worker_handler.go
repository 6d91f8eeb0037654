package runtime

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

// A handlerWorker calls the guest's exported handler, once per task, on one
// instance that lives until it traps or is cancelled.
type handlerWorker struct {
	s    *Session
	inst *host.Instance
}

func (w *handlerWorker) run(ctx context.Context, t *task) outcome {
	if w.inst == nil {
		inst, err := w.s.instantiate(ctx, host.InstanceConfig{})
		if err != nil {
			return broken(err)
		}
		w.inst = inst
	}
	text, failed, err := w.inst.Handle(ctx, guestTask(t))
	if err != nil {
		// What a trap leaves behind is not to be trusted: the next task gets
		// an instance of its own.
		w.close()
		return broken(err)
	}
	return answered(text, failed)
}

func (w *handlerWorker) close() {
	if w.inst != nil {
		w.s.closeInstance(w.inst)
		w.inst = nil
	}
}
