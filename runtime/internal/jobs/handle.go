package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// ErrOfferedElsewhere says that another living session is delivering the work.
var ErrOfferedElsewhere = errors.New("another session is delivering it")

// ErrKillFailed says that a stop could not be proven. The record is kept, and
// every later pass tries again.
var ErrKillFailed = errors.New("it cannot be proven dead")

// Handle is one work, as it was when the handle was made or last returned. Its
// methods act only while the record has the handle's nonce.
type Handle struct {
	store  *Store
	record Record
}

// Record is a copy of what the handle saw.
func (h Handle) Record() Record { return h.record }

// Store is where the record is kept.
func (h Handle) Store() *Store { return h.store }

// Refresh reads the record again.
func (h Handle) Refresh() (Handle, error) {
	r, err := h.store.read(h.record.WorkID)
	if err == nil && r.Nonce != h.record.Nonce {
		err = ErrGone
	}
	if err != nil {
		return h, fmt.Errorf("cannot read %s: %w", h.record.WorkID, err)
	}
	h.record = r
	return h, nil
}

// Delivery is one attempt to bring a finished work to a guest.
type Delivery struct {
	// Session delivers, by the completion task Task.
	Session, Task string
	Now           time.Time
	// Alive says whether another session still runs. A nil Alive says no.
	Alive func(session string) bool
}

// Offer records an attempt, before the guest can see the task. The number of
// the attempt is in the returned handle's record: from the second on the
// delivery is a repeated one.
func (h Handle) Offer(d Delivery) (Handle, error) {
	return h.change(func(r *Record) (bool, error) {
		if r.State != Finished && r.State != Offered {
			return false, fmt.Errorf("it is %s", r.State)
		}
		if r.State == Offered && heldElsewhere(*r, d) {
			return false, ErrOfferedElsewhere
		}
		r.State = Offered
		r.Attempts++
		r.OfferedAt, r.OfferedSession, r.OfferedTask = d.Now.UnixMilli(), d.Session, d.Task
		return true, nil
	})
}

func heldElsewhere(r Record, d Delivery) bool {
	return r.OfferedSession != d.Session && r.GivenUpBy != r.OfferedSession &&
		d.Alive != nil && d.Alive(r.OfferedSession)
}

// Take marks an offered work as dealt with by the guest. It is idempotent.
func (h Handle) Take(now time.Time) (Handle, error) {
	return h.change(func(r *Record) (bool, error) {
		switch r.State {
		case Taken:
			return false, nil
		case Offered:
			r.State, r.TakenAt = Taken, now.UnixMilli()
			return true, nil
		default:
			return false, fmt.Errorf("it is %s, not offered", r.State)
		}
	})
}

// GiveUp records that the session tries no more. The work stays owed: the next
// session gets it, and it is never pruned.
func (h Handle) GiveUp(session string) (Handle, error) {
	return h.change(func(r *Record) (bool, error) {
		if r.State == Taken || r.GivenUpBy == session {
			return false, nil
		}
		r.GivenUpBy = session
		return true, nil
	})
}

// Stop ends the command and finishes its work as [Killed]. The wish is recorded
// first, so that whoever comes next goes on with it. A finished work is
// returned unchanged; ErrKillFailed says that the end could not be proven.
func (h Handle) Stop(ctx context.Context, p Pass) (Handle, error) {
	h, err := h.change(func(r *Record) (bool, error) {
		if r.State != Running || r.StopRequestedAt != 0 {
			return false, nil
		}
		r.StopRequestedAt = p.Now.UnixMilli()
		return true, nil
	})
	if err != nil || h.record.State != Running {
		return h, err
	}
	if p.Supervisor != nil {
		if err := p.Supervisor.Stop(ctx, h.record.Launch, h.record.Nonce); ctx.Err() != nil {
			return h, errors.Join(err, ctx.Err())
		} else if err != nil {
			// It went away under us, or does not know the command: the processes
			// themselves are asked.
			p.Supervisor = nil
		}
	}
	return h.stopped(ctx, p)
}

func (h Handle) stopped(ctx context.Context, p Pass) (Handle, error) {
	var report Report
	if err := h.store.reconcile(ctx, h, p, &report); err != nil {
		return h, err
	}
	h, err := h.Refresh()
	if err == nil && h.record.State == Running {
		err = fmt.Errorf("cannot stop %s: %w", h.record.WorkID, ErrKillFailed)
	}
	return h, err
}

func (h Handle) change(f func(*Record) (bool, error)) (Handle, error) {
	r, err := h.store.update(h.record.WorkID, h.record.Nonce, f)
	if err != nil {
		return h, err
	}
	h.record = r
	return h, nil
}

func fileSize(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
