package capsuletest

import (
	"slices"
	"sync"

	"github.com/murmur-capsule/murmur/runtime"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A log keeps what a session tells, in order, and wakes who waits for more.
type log struct {
	mu      sync.Mutex
	all     []runtime.TaskResult
	trace   []runtime.Event
	changed chan struct{} // closed and replaced at each change
}

func newLog() *log { return &log{changed: make(chan struct{})} }

func (l *log) result(r runtime.TaskResult) {
	l.update(func() { l.all = append(l.all, r) })
}

func (l *log) event(e runtime.Event) {
	l.update(func() { l.trace = append(l.trace, e) })
}

func (l *log) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *log) results() []runtime.TaskResult {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

func (l *log) events(types ...string) []runtime.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.trace), func(e runtime.Event) bool {
		return len(types) > 0 && !slices.Contains(types, string(e.Type))
	})
}

// completions returns the completions of one conversation that have ended.
func (l *log) completions(contextID string) []runtime.TaskResult {
	return slices.DeleteFunc(l.results(), func(r runtime.TaskResult) bool {
		return r.Origin != provenance.Completion || r.ContextID != contextID
	})
}

// next returns the i-th completion of the session once it has ended, or a
// channel that is closed when there is more to see.
func (l *log) next(i int) (runtime.TaskResult, bool, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.all {
		if r.Origin != provenance.Completion {
			continue
		}
		if i == 0 {
			return r, true, nil
		}
		i--
	}
	return runtime.TaskResult{}, false, l.changed
}
