package detach

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// A Registry knows which works are outstanding, and holds the reports that wait
// to become tasks. At any instant a work is in it exactly once, as the one or
// as the other. It is safe for concurrent use.
type Registry struct {
	mu          sync.Mutex
	outstanding map[string]*entry
	reports     []Report
	arrived     chan struct{} // closed when a report comes, then made anew
}

// An entry is an outstanding work.
type entry struct {
	work Work
	proc shell.Process
	// finish makes the completion, writing the log. It runs once; later calls
	// wait for the first.
	finish func() Completion
	// finishing says that finish was begun. The registry's lock guards it.
	finishing bool
	// dropped is closed when the registry lets go of a work that runs on.
	dropped chan struct{}
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	return &Registry{outstanding: map[string]*entry{}, arrived: make(chan struct{})}
}

// Watch registers a work that runs as proc and reports it when it ends. It is
// for works that a session takes over; [Await] registers those it demotes.
func (r *Registry) Watch(w Work, proc shell.Process, writeLog LogWriter) {
	e := newEntry(w, proc, writeLog)
	r.register(e)
	go r.watch(e)
}

func newEntry(w Work, proc shell.Process, writeLog LogWriter) *entry {
	return &entry{
		work: w, proc: proc, dropped: make(chan struct{}),
		finish: sync.OnceValue(func() Completion {
			exit, out := proc.Exit(), proc.Output()
			return Completion{Work: w, Exit: exit, Log: writeLog(w, out, exit), Output: out}
		}),
	}
}

func (r *Registry) register(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outstanding[e.work.ID] = e
}

// watch turns the work into its report once it has ended.
func (r *Registry) watch(e *entry) {
	select {
	case <-e.proc.Ended():
		if r.begin(e) {
			r.complete(e, e.finish())
		}
	case <-e.dropped:
	}
}

// begin says whether the end of e is still the registry's to report. A log is
// written only after that: of a work that was swept as running, none is.
func (r *Registry) begin(e *entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds(e) {
		e.finishing = true
	}
	return e.finishing
}

// complete removes the work and reports it in one step, unless a sweep has
// taken it in the meantime: then that has reported it.
func (r *Registry) complete(e *entry, c Completion) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.holds(e) {
		delete(r.outstanding, e.work.ID)
		r.add(c)
	}
}

// holds says whether e itself is outstanding, and not another of its id.
func (r *Registry) holds(e *entry) bool { return r.outstanding[e.work.ID] == e }

func (r *Registry) add(report Report) {
	r.reports = append(r.reports, report)
	close(r.arrived)
	r.arrived = make(chan struct{})
}

// Report queues a report. It never blocks, whoever receives. A receiver that
// cannot deliver what Next gave it gives it back in this way.
func (r *Registry) Report(report Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(report)
}

// Next takes the oldest report, waiting for one. The error is ctx's.
func (r *Registry) Next(ctx context.Context) (Report, error) {
	for {
		report, arrived := r.take()
		if report != nil {
			return report, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take removes the oldest report; where there is none it tells what to wait on.
func (r *Registry) take() (Report, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.reports) == 0 {
		return nil, r.arrived
	}
	report := r.reports[0]
	r.reports = slices.Delete(r.reports, 0, 1)
	return report, nil
}

// sorted are the outstanding entries in the order of their ids.
func (r *Registry) sorted() []*entry {
	entries := make([]*entry, 0, len(r.outstanding))
	for _, e := range r.outstanding {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b *entry) int { return strings.Compare(a.work.ID, b.work.ID) })
	return entries
}
