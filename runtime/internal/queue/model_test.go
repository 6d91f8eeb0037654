package queue_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/queue"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A model is the queue as one would explain it: a single list in order of
// arrival, searched anew at every turn.
type model struct {
	acceptance queue.Acceptance
	depth      int
	waiting    []modelTask
	admitted   int
	inARow     int
	closed     bool
}

type modelTask struct {
	item
	outside bool
}

func (m *model) push(i item) error {
	outside := 0
	for _, w := range m.waiting {
		if w.outside {
			outside++
		}
	}
	switch {
	case m.closed:
		return queue.ErrClosed
	case m.acceptance == queue.None:
		return queue.ErrNone
	case m.acceptance == queue.Single && m.admitted == 1:
		return queue.ErrSingle
	case m.acceptance == queue.Queued && outside >= m.depth:
		return queue.ErrFull
	}
	m.admitted++
	m.waiting = append(m.waiting, modelTask{i, true})
	return nil
}

func (m *model) report(i item) error {
	switch {
	case i.origin != provenance.Completion:
		return queue.ErrNotReport
	case m.closed:
		return queue.ErrClosed
	}
	m.waiting = append(m.waiting, modelTask{i, false})
	return nil
}

func (m *model) first(in func(provenance.Origin) bool) int {
	for at, w := range m.waiting {
		if in(w.origin) {
			return at
		}
	}
	return -1
}

func (m *model) next() item {
	isUser := func(o provenance.Origin) bool { return o == provenance.User }
	isPeer := func(o provenance.Origin) bool { return o == provenance.Peer }
	isBackground := func(o provenance.Origin) bool { return !isUser(o) && !isPeer(o) }

	at := m.first(isBackground)
	if at < 0 || m.inARow < 8 {
		for _, lane := range []func(provenance.Origin) bool{isUser, isPeer, isBackground} {
			if at = m.first(lane); at >= 0 {
				break
			}
		}
	}
	task := m.waiting[at].item
	m.waiting = append(m.waiting[:at:at], m.waiting[at+1:]...)
	m.inARow++
	if isBackground(task.origin) {
		m.inARow = 0
	}
	return task
}

func TestQueue_AgreesWithTheModel(t *testing.T) {
	policies := []queue.Policy{
		{}, {Acceptance: queue.None}, {Acceptance: queue.Queued}, {Acceptance: queue.Queued, Depth: 5},
		{Acceptance: queue.Queued, Depth: 1000},
	}
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		policy := policies[seed%uint64(len(policies))]
		walk(t, random, policy)
	}
}

// walk does the same random operations to a queue and to its model.
func walk(t *testing.T, random *rand.Rand, policy queue.Policy) {
	q := queue.New[item](policy)
	m := &model{acceptance: policy.Acceptance, depth: max(policy.Depth, 1)}
	if m.acceptance == "" {
		m.acceptance = queue.Single
	}
	// Some walks have many users, so that the background is starved at times.
	origins := provenance.Origins()
	for range random.IntN(3) * 6 {
		origins = append(origins, provenance.User)
	}
	for step := range 600 {
		i := item{origins[random.IntN(len(origins))], strconv.Itoa(step)}
		switch random.IntN(20) {
		default:
			same(t, m.push(i), q.Push(i))
		case 8, 9, 10, 11:
			same(t, m.report(i), q.PushReport(i))
		case 12, 13, 14, 15, 16, 17, 18, 19:
			if len(m.waiting) > 0 && !m.closed {
				got, err := q.Next(t.Context())
				require.NoError(t, err)
				require.Equal(t, m.next(), got)
			}
		}
		if step == 550 {
			m.closed = true
			q.Close()
		}
		require.Equal(t, len(m.waiting), q.Len())
	}
}

func same(t *testing.T, want, got error) {
	t.Helper()
	if want == nil {
		require.NoError(t, got)
		return
	}
	require.True(t, errors.Is(got, want), "want %v, got %v", want, got)
}
