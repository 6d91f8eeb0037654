package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// testOnlyStep is called at each step between which a crash can fall.
var testOnlyStep = func(string) {}

// A delivery is a report on its way to the guest. It ends when the guest has
// taken the report's task, or when the session gives up.
type delivery struct {
	report detach.Report
	// attempt counts the deliveries by this session, from 1; offered counts
	// those by all sessions, where a record tells.
	attempt, offered int
	// record is what makes the delivery survive this runtime; nil where nothing
	// does.
	record *jobs.Handle
}

// durable says whether the report is owed to a later session if this one does
// not deliver it.
func (d *delivery) durable() bool { return d.record != nil }

// works are the ids of the commands that the report is about.
func (d *delivery) works() []string {
	switch r := d.report.(type) {
	case detach.Completion:
		return []string{r.ID}
	case detach.LostReport:
		ids := make([]string, len(r.Works))
		for i, w := range r.Works {
			ids[i] = w.WorkID
		}
		return ids
	}
	return nil
}

// pump turns reports into tasks until the session is over.
func (s *Session) pump() {
	defer close(s.pumped)
	for {
		report, err := s.registry.Next(s.pumping)
		if err != nil {
			return
		}
		s.inject(report)
	}
}

// inject makes the task of a report and queues it. What the queue no longer
// takes goes back to the registry, where the session's end accounts for it.
func (s *Session) inject(report detach.Report) {
	testOnlyStep("ended")
	m := report.Message()
	t := s.mintTask(Task{Message: m.Text, ContextID: m.ContextID, Source: m.Source}, m.Provenance)
	t.repeated = m.Repeated
	if m.TaskID != "" {
		t.id = m.TaskID
	}
	t.delivery = &delivery{report: report, attempt: 1}
	if c, ok := report.(detach.Completion); ok {
		t.delivery.record = s.durables.find(c.ID)
		s.trace.add(c.Event(t.id))
	}
	s.deliver(t)
}

// deliver offers the task to the guest. That it was offered is written down
// before the guest can see it: a repeated delivery must be told from a first.
func (s *Session) deliver(t *task) {
	if err := s.offer(t); errors.Is(err, jobs.ErrOfferedElsewhere) {
		s.account.add(-1)
		return
	} else if err != nil {
		// Better twice than never: without the mark it comes again.
		fmt.Fprintf(s.operator, "[capsule-runtime] cannot record the delivery of %v: %v\n", t.delivery.works(), err)
	}
	testOnlyStep("offered")
	s.account.add(1)
	if err := s.queue.PushReport(t); err != nil {
		s.account.add(-1)
		s.setAside(t)
	}
}

// settleDelivery marks what the guest has taken, and tries again what it has
// not.
func (s *Session) settleDelivery(t *task, out outcome) {
	switch {
	case out.taken:
		s.followedUp(t)
	case errors.Is(out.err, host.ErrCanceled) && s.ctx.Err() != nil:
		s.setAside(t)
	case t.delivery.attempt >= s.retry.attempts:
		s.giveUp(t, out)
	default:
		s.retryLater(t)
	}
}

func (s *Session) followedUp(t *task) {
	for _, id := range t.delivery.works() {
		s.trace.add(trace.Event{
			Type: trace.ShellFollowedUp, WorkID: id, CompletionTaskID: t.id, Attempt: trace.Int(t.delivery.attempts()),
		})
	}
	testOnlyStep("followed up")
	s.markTaken(t.delivery)
	t.delivery.discard()
	testOnlyStep("marked")
	s.account.add(-1)
}

// discard removes what was captured of a command that has no record to keep it
// by: its log has all of it, if it could be written.
func (d *delivery) discard() {
	if c, ok := d.report.(detach.Completion); ok && !d.durable() && c.Log.Err == nil {
		_ = c.Output.Remove()
	}
}

// attempts is how often the report was delivered, by whatever session.
func (d *delivery) attempts() int { return max(d.attempt, d.offered) }

func (s *Session) giveUp(t *task, out outcome) {
	fmt.Fprintf(s.operator, "[capsule-runtime] the report on %v was not taken in %d attempts and is given up: %v\n",
		t.delivery.works(), t.delivery.attempt, out.err)
	s.markGivenUp(t.delivery)
	s.account.add(-1)
}

// A retryPolicy says how often, and after which delay, a report is delivered
// again.
type retryPolicy struct {
	attempts int
	delay    func(attempt int) time.Duration
}

var defaultRetry = retryPolicy{attempts: jobs.MaxAttempts, delay: jobs.Backoff}

// retryLater queues the task again after a delay. Until then it counts as set
// aside, so that a session that ends meanwhile accounts for it.
func (s *Session) retryLater(t *task) {
	again := s.mintTask(Task{Message: t.message, ContextID: t.contextID, Source: t.source}, t.prov)
	again.id, again.repeated = t.id, true
	next := *t.delivery
	next.attempt++
	again.delivery = &next
	s.setAside(again)
	time.AfterFunc(s.retry.delay(t.delivery.attempt), func() {
		if s.takeBack(again) {
			s.deliver(again)
		}
	})
}

// setAside keeps a report that no queue holds.
func (s *Session) setAside(t *task) {
	s.asideMu.Lock()
	defer s.asideMu.Unlock()
	s.aside = append(s.aside, t)
}

// takeBack takes a report out again, unless the session's end has done so.
func (s *Session) takeBack(t *task) bool {
	s.asideMu.Lock()
	defer s.asideMu.Unlock()
	for i, held := range s.aside {
		if held == t {
			s.aside = append(s.aside[:i], s.aside[i+1:]...)
			return true
		}
	}
	return false
}

func (s *Session) takeAllBack() []*task {
	s.asideMu.Lock()
	defer s.asideMu.Unlock()
	all := s.aside
	s.aside = nil
	return all
}
