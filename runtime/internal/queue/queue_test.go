package queue_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/murmur-capsule/murmur/runtime/internal/queue"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type item struct {
	origin provenance.Origin
	name   string
}

func (i item) Origin() provenance.Origin { return i.origin }

func user(name string) item       { return item{provenance.User, name} }
func peer(name string) item       { return item{provenance.Peer, name} }
func event(name string) item      { return item{provenance.Event, name} }
func completion(name string) item { return item{provenance.Completion, name} }

func deep(depth int) *queue.Queue[item] {
	return queue.New[item](queue.Policy{Acceptance: queue.Queued, Depth: depth})
}

func push(t *testing.T, q *queue.Queue[item], items ...item) {
	t.Helper()
	for _, i := range items {
		require.NoError(t, q.Push(i))
	}
}

// order takes everything that waits and joins its names.
func order(t *testing.T, q *queue.Queue[item]) string {
	t.Helper()
	var names []string
	for q.Len() > 0 {
		i, err := q.Next(t.Context())
		require.NoError(t, err)
		names = append(names, i.name)
	}
	return strings.Join(names, " ")
}

func TestLaneOf(t *testing.T) {
	want := map[string]string{
		"user": "user", "peer": "peer", "schedule": "bg", "event": "bg", "completion": "bg", "system": "bg",
	}
	require.Len(t, want, len(provenance.Origins()))
	for _, origin := range provenance.Origins() {
		assert.Equal(t, want[origin.String()], queue.LaneOf(origin).String(), origin)
	}
	assert.Equal(t, queue.Background, queue.LaneOf(provenance.Origin(77)))
	assert.Equal(t, "bg", queue.Lane(77).String())
}

func TestNext_LanesThenFirstComeFirstServed(t *testing.T) {
	q := deep(100)
	push(t, q, event("e1"), peer("p1"), user("u1"))
	require.NoError(t, q.PushReport(completion("c1")))
	push(t, q, item{provenance.System, "s1"}, item{provenance.Schedule, "t1"}, user("u2"), peer("p2"))
	assert.Equal(t, "u1 u2 p1 p2 e1 c1 s1 t1", order(t, q))
}

func TestNext_BackgroundGetsATurnAfterEightOthers(t *testing.T) {
	q := deep(100)
	push(t, q, event("B1"), event("B2"))
	for i := range 12 {
		push(t, q, user("u"+strconv.Itoa(i)))
	}
	for i := range 6 {
		push(t, q, peer("p"+strconv.Itoa(i)))
	}
	assert.Equal(t, "u0 u1 u2 u3 u4 u5 u6 u7 B1 u8 u9 u10 u11 p0 p1 p2 p3 B2 p4 p5", order(t, q))
}

func TestNext_ARunOfOthersCountsBeforeTheBackgroundTaskComes(t *testing.T) {
	q := deep(100)
	for i := range 10 {
		push(t, q, user("u"+strconv.Itoa(i)))
	}
	for range 9 {
		_, err := q.Next(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, q.PushReport(completion("c")))
	assert.Equal(t, "c u9", order(t, q))
}

func TestPush_Admission(t *testing.T) {
	cases := []struct {
		policy  queue.Policy
		admits  int
		reason  error
		message string
	}{
		{queue.Policy{Acceptance: queue.None}, 0, queue.ErrNone, "takes no tasks (lifecycle.task_acceptance: none)"},
		{queue.Policy{}, 1, queue.ErrSingle, "has had it (lifecycle.task_acceptance: single)"},
		{queue.Policy{Acceptance: queue.Single, Depth: 9}, 1, queue.ErrSingle, "has had it"},
		{queue.Policy{Acceptance: queue.Queued}, 1, queue.ErrFull, "1 waiting, lifecycle.queue_depth is 1"},
		{queue.Policy{Acceptance: queue.Queued, Depth: 3}, 3, queue.ErrFull, "3 waiting, lifecycle.queue_depth is 3"},
		{queue.Policy{Acceptance: "sometimes"}, 0, queue.ErrNone, "takes no tasks"},
	}
	for _, c := range cases {
		q := queue.New[item](c.policy)
		for range c.admits {
			require.NoError(t, q.Push(user("u")))
		}
		err := q.Push(user("one too many"))
		require.ErrorIs(t, err, c.reason)
		assert.ErrorContains(t, err, c.message)
		var refusal *queue.Refusal
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, c.admits, refusal.Pending)
		assert.Equal(t, c.admits, q.Len())
	}
}

func TestPush_SingleIsOneTaskEver(t *testing.T) {
	q := queue.New[item](queue.Policy{})
	push(t, q, user("u"))
	assert.Equal(t, "u", order(t, q))
	assert.ErrorIs(t, q.Push(user("again")), queue.ErrSingle)

	q = queue.New[item](queue.Policy{})
	require.NoError(t, q.PushReport(completion("c")))
	push(t, q, user("a report was not that one"))
}

func TestPush_TheRunningTaskDoesNotCount(t *testing.T) {
	q := deep(1)
	push(t, q, user("running"))
	_, err := q.Next(t.Context())
	require.NoError(t, err)
	push(t, q, user("waiting"))
	assert.ErrorIs(t, q.Push(user("refused")), queue.ErrFull)
}

func TestPush_ATaskThatIsTakenAtOnceDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deep(1)
		got := make(chan item, 1)
		go func() {
			i, err := q.Next(t.Context())
			assert.NoError(t, err)
			got <- i
		}()
		synctest.Wait()
		push(t, q, user("to the waiter"), user("waits"))
		assert.ErrorIs(t, q.Push(user("refused")), queue.ErrFull)
		assert.Equal(t, "to the waiter", (<-got).name)
	})
}

func TestPushReport_AlwaysAdmittedAndNotCounted(t *testing.T) {
	for _, acceptance := range []queue.Acceptance{queue.None, queue.Single, queue.Queued} {
		q := queue.New[item](queue.Policy{Acceptance: acceptance})
		for range 50 {
			require.NoError(t, q.PushReport(completion("c")))
		}
		if acceptance != queue.None {
			push(t, q, user("has room still"))
		}
	}
	full := deep(1)
	push(t, full, event("e"))
	require.NoError(t, full.PushReport(completion("c")))
	assert.Equal(t, "e c", order(t, full))
}

func TestPushReport_OnlyCompletions(t *testing.T) {
	for _, origin := range provenance.Origins() {
		err := deep(1).PushReport(item{origin: origin})
		if origin == provenance.Completion {
			assert.NoError(t, err)
		} else {
			assert.ErrorIs(t, err, queue.ErrNotReport)
			assert.EqualError(t, err, queue.ErrNotReport.Error())
		}
	}
}

func TestPush_ACompletionFromOutsideCounts(t *testing.T) {
	q := deep(1)
	push(t, q, completion("from a peer's wire"))
	assert.ErrorIs(t, q.Push(user("u")), queue.ErrFull)
}

func TestRoom_WakesWhenATaskLeaves(t *testing.T) {
	q := deep(1)
	push(t, q, user("a"))
	room := q.Room()
	require.ErrorIs(t, q.Push(user("b")), queue.ErrFull)
	assert.False(t, isClosed(room))
	_, err := q.Next(t.Context())
	require.NoError(t, err)
	assert.True(t, isClosed(room))
	push(t, q, user("b"))
	room = q.Room()
	_, found := q.Remove(func(i item) bool { return i.name == "b" })
	assert.True(t, found)
	assert.True(t, isClosed(room), "so does one that is withdrawn")

	require.NoError(t, q.PushReport(completion("c")))
	room = q.Room()
	_, err = q.Next(t.Context())
	require.NoError(t, err)
	assert.False(t, isClosed(room), "a report took no room")
	q.Close()
	assert.True(t, isClosed(room))
	assert.True(t, isClosed(q.Room()))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestRemove(t *testing.T) {
	q := deep(9)
	push(t, q, event("x"), peer("x"), user("a"), user("x"), user("x"))
	for _, want := range []item{user("x"), user("x"), peer("x"), event("x")} {
		got, found := q.Remove(func(i item) bool { return i.name == "x" })
		assert.True(t, found)
		assert.Equal(t, want, got)
	}
	_, found := q.Remove(func(i item) bool { return i.name == "x" })
	assert.False(t, found)
	assert.Equal(t, "a", order(t, q))
}

func TestNext_WaitersAreServedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deep(9)
		var got [3]string
		for n := range got {
			go func() {
				i, err := q.Next(t.Context())
				assert.NoError(t, err)
				got[n] = i.name
			}()
			synctest.Wait()
		}
		push(t, q, event("1"), user("2"), peer("3"))
		synctest.Wait()
		assert.Equal(t, [3]string{"1", "2", "3"}, got)
	})
}

func TestNext_ContextEndsTheWait(t *testing.T) {
	q := deep(1)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	push(t, q, user("a"))
	_, err := q.Next(gone)
	assert.ErrorIs(t, err, context.Canceled, "a caller that is gone takes nothing")

	synctest.Test(t, func(t *testing.T) {
		q := deep(1)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := q.Next(ctx)
			failed <- err
		}()
		synctest.Wait()
		cancel()
		assert.ErrorIs(t, <-failed, context.Canceled)
		push(t, q, user("b"))
		assert.Equal(t, "b", order(t, q), "the waiter that left gets nothing")
	})
}

// However a waiter's departure and a task's arrival meet, the task is had once.
func TestNext_NothingIsLostToAWaiterThatLeaves(t *testing.T) {
	for range 500 {
		q := deep(1)
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		var had int
		wait.Go(func() {
			if _, err := q.Next(ctx); err == nil {
				had++
			}
		})
		wait.Go(cancel)
		wait.Go(func() { assert.NoError(t, q.Push(user("u"))) })
		wait.Wait()
		assert.Equal(t, 1, had+q.Len())
	}
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deep(9)
		failed := make(chan error)
		go func() {
			_, err := q.Next(t.Context())
			failed <- err
		}()
		synctest.Wait()
		q.Close()
		assert.ErrorIs(t, <-failed, queue.ErrClosed)
	})
	q := deep(9)
	push(t, q, event("e"), user("u"))
	require.NoError(t, q.PushReport(completion("c")))
	q.Close()
	q.Close()
	_, err := q.Next(t.Context())
	assert.ErrorIs(t, err, queue.ErrClosed)
	assert.ErrorIs(t, q.Push(user("late")), queue.ErrClosed)
	assert.ErrorIs(t, q.PushReport(completion("late")), queue.ErrClosed)
	assert.Equal(t, []item{user("u"), event("e"), completion("c")}, q.Drain())
	assert.Empty(t, q.Drain())
}

func TestQueue_ManyAtOnce(t *testing.T) {
	q := deep(10_000)
	var wait sync.WaitGroup
	var got sync.Map
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 4 {
		wait.Go(func() {
			for {
				i, err := q.Next(ctx)
				if err != nil {
					return
				}
				_, twice := got.LoadOrStore(i.name, true)
				assert.False(t, twice, i.name)
			}
		})
	}
	var pushing sync.WaitGroup
	for p := range 4 {
		pushing.Go(func() {
			for n := range 500 {
				name := fmt.Sprint(p, " ", n)
				if n%2 == 0 {
					assert.NoError(t, q.Push(user(name)))
				} else {
					assert.NoError(t, q.PushReport(completion(name)))
				}
			}
		})
	}
	pushing.Wait()
	q.Close()
	wait.Wait()
	for _, i := range q.Drain() {
		_, twice := got.LoadOrStore(i.name, true)
		assert.False(t, twice, i.name)
	}
	count := 0
	got.Range(func(any, any) bool { count++; return true })
	assert.Equal(t, 2000, count)
}
