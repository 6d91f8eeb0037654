package detach

import (
	"slices"
	"strings"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// A Remnant is a work that a session's end leaves behind.
type Remnant struct {
	Work
	// Running is how long it had run when the session let go of it.
	Running time.Duration
	// Durable says that it is supervised: its completion comes to a later
	// session.
	Durable bool
	// Finished is set if it ended before that, too late for any task.
	Finished *Completion
}

// RunningFor is how long the work ran: for a finished one, its duration.
func (r Remnant) RunningFor() time.Duration {
	if r.Finished != nil {
		return r.Finished.Exit.Duration
	}
	return r.Running
}

// Sweep takes everything out of the registry, ordered by id: the works that are
// outstanding, and those whose completions nobody has received. It waits for no
// command, and ends none; a work that runs on is let go of, and its log is
// never written. Reports of lost commands are dropped: what is lost stays on
// the books until a guest has taken its report.
//
// A call of Await that is still under way may register a work later; a second
// Sweep finds it.
func (r *Registry) Sweep() []Remnant {
	entries, reports := r.empty()
	var remnants []Remnant
	for _, e := range entries {
		remnants = append(remnants, e.remnant())
	}
	for _, report := range reports {
		if c, ok := report.(Completion); ok {
			remnants = append(remnants, Undelivered(c))
		}
	}
	slices.SortFunc(remnants, func(a, b Remnant) int { return strings.Compare(a.ID, b.ID) })
	return remnants
}

// Undelivered is the remnant of a work whose completion was received and did
// not become a task.
func Undelivered(c Completion) Remnant { return Remnant{Work: c.Work, Finished: &c} }

// empty takes everything in one step. Works whose completion is being made stay
// with their watcher, which then finds them gone and does not report them.
func (r *Registry) empty() ([]*entry, []Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries, reports := r.sorted(), r.reports
	clear(r.outstanding)
	r.reports = nil
	for _, e := range entries {
		close(e.dropped)
		e.finishing = e.finishing || ended(e.proc)
	}
	return entries, reports
}

func (e *entry) remnant() Remnant {
	_, durable := e.proc.(shell.Durable)
	left := Remnant{Work: e.work, Durable: durable}
	if e.finishing {
		c := e.finish()
		left.Finished = &c
	} else {
		left.Running = running(e.proc)
	}
	return left
}
