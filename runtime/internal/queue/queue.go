package queue

import (
	"context"
	"slices"
	"sync"

	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// fairness is how many tasks of higher lanes in a row hold up the background.
const fairness = 8

// An Item is what a queue holds. Its own origin decides on its lane.
type Item interface {
	Origin() provenance.Origin
}

// A Queue holds waiting tasks. It is safe for concurrent use.
type Queue[T Item] struct {
	policy Policy

	mu      sync.Mutex
	closed  bool
	lanes   [lanes][]entry[T]
	waiters []chan T // Next calls that wait; none while an item does
	pending int      // outside tasks that wait
	hadOne  bool     // an outside task was admitted
	higher  int      // tasks of higher lanes handed out in a row
	done    chan struct{}
	room    chan struct{}
}

type entry[T Item] struct {
	item    T
	outside bool
}

// New makes an empty queue.
func New[T Item](p Policy) *Queue[T] {
	return &Queue[T]{policy: p.withDefaults(), done: make(chan struct{}), room: make(chan struct{})}
}

// Push adds an outside caller's task, or refuses it with a [*Refusal]. A task
// that a waiting Next takes at once does not count as waiting.
func (q *Queue[T]) Push(item T) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	reason := q.policy.admit(q.pending, q.hadOne)
	if q.closed {
		reason = ErrClosed
	}
	if reason != nil {
		return &Refusal{Reason: reason, Policy: q.policy, Pending: q.pending}
	}
	q.hadOne = true
	q.add(entry[T]{item, true})
	return nil
}

// PushReport adds the completion of a command, or the report of lost ones. It
// is refused only if its origin is not completion, or the queue is closed: then
// the caller still has to account for it.
func (q *Queue[T]) PushReport(item T) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case item.Origin() != provenance.Completion:
		return &Refusal{Reason: ErrNotReport, Policy: q.policy, Pending: q.pending}
	case q.closed:
		return &Refusal{Reason: ErrClosed, Policy: q.policy, Pending: q.pending}
	}
	q.add(entry[T]{item, false})
	return nil
}

// Readmit adds a task that an earlier session admitted and did not run. It is
// refused only if the queue is closed.
func (q *Queue[T]) Readmit(item T) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return &Refusal{Reason: ErrClosed, Policy: q.policy, Pending: q.pending}
	}
	q.hadOne = true
	q.add(entry[T]{item, true})
	return nil
}

func (q *Queue[T]) add(e entry[T]) {
	lane := LaneOf(e.item.Origin())
	if len(q.waiters) > 0 {
		q.waiters[0] <- e.item
		q.waiters = q.waiters[1:]
		q.count(lane)
		return
	}
	q.lanes[lane] = append(q.lanes[lane], e)
	if e.outside {
		q.pending++
	}
}

// count keeps the run of higher lanes that the background is owed a turn for.
func (q *Queue[T]) count(lane Lane) {
	if lane == Background {
		q.higher = 0
	} else {
		q.higher++
	}
}

// Next takes the next task, waiting for one. It returns ErrClosed once the
// queue is closed, whatever it still holds, and ctx's error once ctx is done.
func (q *Queue[T]) Next(ctx context.Context) (item T, err error) {
	if err := ctx.Err(); err != nil {
		return item, err
	}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return item, ErrClosed
	}
	if e, ok := q.take(); ok {
		q.mu.Unlock()
		return e.item, nil
	}
	waiter := make(chan T, 1)
	q.waiters = append(q.waiters, waiter)
	q.mu.Unlock()

	select {
	case item = <-waiter:
		return item, nil
	case <-ctx.Done():
		return q.leave(waiter, ctx.Err())
	case <-q.done:
		return q.leave(waiter, ErrClosed)
	}
}

// leave withdraws a waiter. An item that was handed to it in the meantime is
// taken all the same: nobody else has it.
func (q *Queue[T]) leave(waiter chan T, why error) (item T, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case item = <-waiter:
		return item, nil
	default:
		q.waiters = slices.DeleteFunc(q.waiters, func(w chan T) bool { return w == waiter })
		return item, why
	}
}

// take removes the entry whose turn it is.
func (q *Queue[T]) take() (e entry[T], ok bool) {
	lane := User
	for lane < Background && len(q.lanes[lane]) == 0 {
		lane++
	}
	if q.higher >= fairness && len(q.lanes[Background]) > 0 {
		lane = Background
	}
	if len(q.lanes[lane]) == 0 {
		return e, false
	}
	q.count(lane)
	return q.remove(lane, 0), true
}

func (q *Queue[T]) remove(lane Lane, at int) entry[T] {
	e := q.lanes[lane][at]
	q.lanes[lane] = slices.Delete(q.lanes[lane], at, at+1)
	if e.outside {
		q.pending--
		q.makeRoom()
	}
	return e
}

// makeRoom wakes those who wait for room. That of a closed queue stays awake.
func (q *Queue[T]) makeRoom() {
	if q.closed {
		return
	}
	close(q.room)
	q.room = make(chan struct{})
}

// Room is closed when an outside task leaves the queue the next time, or when
// the queue is closed. A caller that was refused with ErrFull, having called
// Room before, waits on it.
func (q *Queue[T]) Room() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.room
}

// Len is how many tasks wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lanes[User]) + len(q.lanes[Peer]) + len(q.lanes[Background])
}

// Remove takes the first waiting task, in lane order, that match says yes to.
func (q *Queue[T]) Remove(match func(T) bool) (item T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for lane := range q.lanes {
		at := slices.IndexFunc(q.lanes[lane], func(e entry[T]) bool { return match(e.item) })
		if at >= 0 {
			return q.remove(Lane(lane), at).item, true
		}
	}
	return item, false
}

// Close ends the queue: nothing is admitted or handed out any more. It is
// idempotent. What waits stays for [Queue.Drain].
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	close(q.done)
	close(q.room)
}

// Drain takes everything that waits, in lane order. After [Queue.Close] nothing
// can join any more, so that what it returns is all that is left to account
// for.
func (q *Queue[T]) Drain() (items []T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for lane := range q.lanes {
		for len(q.lanes[lane]) > 0 {
			items = append(items, q.remove(Lane(lane), 0).item)
		}
	}
	return items
}
