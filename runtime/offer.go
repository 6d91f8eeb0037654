package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
)

// find is the record of a work that has ended, brought up to its end; nil where
// the work has none.
func (d *durables) find(work string) *jobs.Handle {
	if d == nil {
		return nil
	}
	for _, src := range d.sources() {
		h, err := src.store.Get(work)
		if errors.Is(err, jobs.ErrGone) {
			continue
		}
		if err == nil {
			h, err = h.Reconcile(d.ctx, src.pass())
		}
		if err != nil {
			fmt.Fprintf(d.s.operator, "[capsule-runtime] the record of %s cannot be used: %v\n", work, err)
			return nil
		}
		return &h
	}
	return nil
}

// sources are the records this session delivers from, its own first.
func (d *durables) sources() []*source {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*source{d.own}, d.old...)
}

// offer writes down that the task is about to be queued.
func (s *Session) offer(t *task) error {
	if !t.delivery.durable() {
		return nil
	}
	h, err := t.delivery.record.Offer(jobs.Delivery{Session: s.id, Task: t.id, Now: time.Now(), Alive: s.alive})
	if err != nil {
		return err
	}
	t.delivery.record = &h
	t.delivery.offered = h.Record().Attempts
	t.repeated = t.repeated || t.delivery.offered > 1
	return nil
}

// markTaken writes down that the guest has dealt with the report. If it cannot
// be, the report comes once more, marked as repeated.
func (s *Session) markTaken(d *delivery) {
	if !d.durable() {
		return
	}
	if _, err := d.record.Take(time.Now()); err != nil {
		fmt.Fprintf(s.operator, "[capsule-runtime] cannot mark %v as followed up: %v\n", d.works(), err)
	}
}

// markGivenUp leaves the report to the next session.
func (s *Session) markGivenUp(d *delivery) {
	if !d.durable() {
		return
	}
	if _, err := d.record.GiveUp(s.id); err != nil {
		fmt.Fprintf(s.operator, "[capsule-runtime] cannot mark %v as given up: %v\n", d.works(), err)
	}
}
