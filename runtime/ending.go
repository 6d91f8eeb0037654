package runtime

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// finish ends the session: nothing is waited for, nothing is killed, and each
// command that is left behind is reported exactly once.
func (s *Session) finish() error {
	s.queue.Close()
	s.worker.close()
	s.stopPump()
	remnants := s.sweep()
	s.abort()
	s.reportRemnants(remnants)
	err := s.writeDown(remnants)
	s.rt.remove(s)
	s.release()
	return err
}

func (s *Session) stopPump() {
	s.endPump()
	<-s.pumped
}

// sweep collects every command whose result did not reach the guest: those that
// run, those whose reports wait, and those whose tasks were queued in vain.
func (s *Session) sweep() []detach.Remnant {
	remnants := s.registry.Sweep()
	for i := range remnants {
		// Whatever a supervisor has a record of is owed, ended or not.
		remnants[i].Durable = s.durables != nil
	}
	for _, t := range append(s.queue.Drain(), s.takeAllBack()...) {
		if t.delivery == nil {
			s.drop(t)
			continue
		}
		t.cancel()
		if c, ok := t.delivery.report.(detach.Completion); ok {
			left := detach.Undelivered(c)
			left.Durable = t.delivery.durable()
			remnants = append(remnants, left)
		}
	}
	slices.SortFunc(remnants, func(a, b detach.Remnant) int { return strings.Compare(a.ID, b.ID) })
	return remnants
}

// drop answers the caller of a task that was never started.
func (s *Session) drop(t *task) {
	t.cancel()
	t.started = time.Now()
	s.conclude(t, broken(ErrTaskDropped))
}

// reportRemnants tells the operator what the session leaves behind.
func (s *Session) reportRemnants(remnants []detach.Remnant) {
	var discarded, carried []detach.Remnant
	for _, r := range remnants {
		s.trace.add(r.Event())
		if r.Durable {
			carried = append(carried, r)
		} else {
			discarded = append(discarded, r)
		}
	}
	if len(discarded) > 0 {
		fmt.Fprintln(s.operator, detach.AbandonedText(s.id, discarded))
	}
	if len(carried) > 0 {
		fmt.Fprintln(s.operator, detach.CarriedText(s.id, carried))
	}
}

// writeDown closes the session's own records.
func (s *Session) writeDown(remnants []detach.Remnant) error {
	n := s.account.total()
	status := trace.StatusOK
	if n.failed > 0 {
		status = trace.StatusError
	}
	err := s.trace.append(trace.Event{
		Type: trace.SessionEnd, ExitStatus: status, Tasks: trace.Int(n.tasks), TasksFailed: trace.Int(n.failed),
		Detached: trace.Int(n.detached), Outstanding: trace.Int(len(remnants)),
	})
	s.file.EndedMS = time.Now().UnixMilli()
	return errors.Join(err, s.file.write(s.dir))
}
