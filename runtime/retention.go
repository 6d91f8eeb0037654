package runtime

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
)

// retentionChecks is how often, in one retention time, a session looks for what
// need not be kept any more.
const retentionChecks = 6

// tidy removes what has been kept long enough: when the session starts, and
// from time to time while it goes on.
func (d *durables) tidy() {
	defer close(d.tidied)
	tick := time.NewTicker(max(d.s.rt.opts.Retention/retentionChecks, time.Second))
	defer tick.Stop()
	for {
		if err := d.prune(time.Now()); err != nil {
			fmt.Fprintf(d.s.operator, "[capsule-runtime] what need not be kept cannot be removed: %v\n", err)
		}
		select {
		case <-tick.C:
		case <-d.ctx.Done():
			return
		}
	}
}

// prune removes the records and captured output of commands whose results were
// taken longer ago than the retention time, in every session of the state
// directory. It takes no session's lock: one that is being resumed must not look
// as if it were running.
func (d *durables) prune(now time.Time) error {
	entries, err := os.ReadDir(d.s.rt.state.sessions())
	errs := []error{err}
	for _, e := range entries {
		if d.ctx.Err() == nil && ids.Session.Valid(e.Name()) {
			errs = append(errs, d.pruneSession(e.Name(), now))
		}
	}
	return errors.Join(errs...)
}

func (d *durables) pruneSession(session string, now time.Time) error {
	store, err := supervisor.Records(d.s.rt.state.session(session))
	if err != nil {
		return err
	}
	got, err := store.GC(now, d.s.rt.opts.Retention, leavesLiving)
	for _, a := range got.Aside {
		fmt.Fprintf(d.s.operator, "[capsule-runtime] a record was set aside: %s\n", a)
	}
	return err
}
