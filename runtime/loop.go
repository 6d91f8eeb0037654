package runtime

import (
	"errors"
	"time"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime/internal/queue"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// loop runs the session's tasks, one at a time, until the lifecycle or the
// caller ends it.
func (s *Session) loop() {
	defer close(s.done)
	for {
		t, err := s.queue.Next(s.ctx)
		if err != nil {
			break
		}
		s.runTask(t)
		if s.isLast(t) {
			break
		}
	}
	s.err = s.finish()
}

// isLast tells whether the lifecycle ends the session after t, which just ran.
// What was admitted before is run first; and what is told of the commands of an
// earlier session does not end one that has yet to get its own task.
func (s *Session) isLast(t *task) bool {
	lc := s.capsule.manifest.Lifecycle
	s.hadTask = s.hadTask || t.delivery == nil || lc.TaskAcceptance == capsule.AcceptNone
	return lc.AfterTask == capsule.AfterExit && s.hadTask && s.queue.Len() == 0
}

// runTask gives t to the guest and settles what follows from its outcome.
func (s *Session) runTask(t *task) {
	defer t.cancel()
	out := broken(host.ErrCanceled)
	t.started = time.Now()
	s.traceTaskStart(t)
	if t.ctx.Err() == nil {
		out = s.give(t)
	}
	s.traceTaskEnd(t, out)
	if t.delivery != nil {
		s.settleDelivery(t, out)
	}
	s.conclude(t, out)
}

// give hands t to the guest. Only while the guest has it are commands accepted,
// and on its behalf alone.
func (s *Session) give(t *task) outcome {
	if err := s.pending.begin(t); err != nil {
		return broken(err)
	}
	s.durables.task(t.id)
	s.current.Store(t)
	defer func() {
		s.current.Store(nil)
		s.durables.task("")
	}()
	testOnlyStep("given " + t.source)
	defer testOnlyStep("answered " + t.source)
	return s.worker.run(t.ctx, t)
}

// conclude makes the task's result known.
func (s *Session) conclude(t *task, out outcome) {
	res := TaskResult{
		TaskID: t.id, ContextID: t.contextID, Source: t.source,
		Origin: t.prov.Origin(), Trust: t.prov.Trust(),
		Status: out.status(), Result: out.String(), Err: out.err,
		Duration: time.Since(t.started), ShellCalls: int(t.calls), Repeated: t.repeated,
	}
	s.account.note(func(c *counts) {
		c.tasks++
		if res.Status == StatusError {
			c.failed++
		}
	})
	if t.delivery == nil {
		s.pending.forget(t.id)
	}
	s.publish(res)
	t.ticket.finish(res)
	s.account.add(-1)
}

func (s *Session) publish(res TaskResult) {
	if s.opts.OnResult == nil {
		return
	}
	s.onResult.Lock()
	defer s.onResult.Unlock()
	s.opts.OnResult(res)
}

func (s *Session) traceTaskStart(t *task) {
	s.trace.add(trace.Event{
		Type: trace.TaskStart, TaskID: t.id, ContextID: t.contextID, Source: t.source,
		Origin: t.prov.Origin().String(), Trust: t.prov.Trust().String(),
		Lane: queue.LaneOf(t.prov.Origin()).String(), MessageBytes: trace.Int(len(t.message)), Repeated: t.repeated,
	})
}

func (s *Session) traceTaskEnd(t *task, out outcome) {
	s.trace.add(trace.Event{
		Type: trace.TaskEnd, TaskID: t.id, ExitStatus: exitStatus(out),
		DurationMS: trace.Int(time.Since(t.started).Milliseconds()), ShellCalls: trace.Int(t.calls),
	})
}

func exitStatus(out outcome) string {
	switch {
	case errors.Is(out.err, host.ErrCanceled):
		return trace.StatusCanceled
	case out.err != nil:
		return trace.StatusTrap
	case out.failed:
		return trace.StatusError
	}
	return trace.StatusOK
}
