package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
)

// recordTime bounds how long a guest waits for its command to be put on record.
const recordTime = 10 * time.Second

// keepDaemons puts a command on record that has ended in the foreground and left
// processes running: by the record the operator finds them, and can stop them.
func (s *Session) keepDaemons(t *task, proc shell.Process) {
	durable, ok := proc.(shell.Durable)
	if !ok || s.durables == nil || len(proc.Exit().LeftRunning) == 0 {
		return
	}
	if err := s.recordDaemons(t, durable); err != nil {
		fmt.Fprintf(s.operator, "[capsule-runtime] what a command left running cannot be put on record: %v\n", err)
	}
}

// recordDaemons makes a record that is owed to nobody: the guest gets the result
// at once. Should the runtime die before it does, the result is told like that of
// any command of a task that was interrupted.
func (s *Session) recordDaemons(t *task, proc shell.Durable) error {
	ctx, cancel := context.WithTimeout(context.Background(), recordTime)
	defer cancel()
	id := ids.Work.New()
	if err := proc.Demote(ctx, shell.Demotion{WorkID: id}); err != nil {
		return err
	}
	h, err := s.durables.own.store.Get(id)
	if err == nil {
		h, err = h.Reconcile(ctx, s.durables.own.pass())
	}
	if err == nil {
		h, err = h.Offer(jobs.Delivery{Session: s.id, Task: t.id, Now: time.Now()})
	}
	if err == nil {
		_, err = h.Take(time.Now())
	}
	return err
}

// leavesLiving says whether processes that a command left running still live:
// its record is all that they are found by.
func leavesLiving(r jobs.Record) bool {
	return r.Outcome != nil && len(r.Outcome.LeftRunning)+len(r.Outcome.Survivors) > 0 &&
		len((supervisor.Host{}).Members(r)) > 0
}
