package runtime

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A tally counts the results of one session.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
}

func (c *tally) add(r TaskResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[r.TaskID]++
}

// Many callers submit to several sessions of one runtime in one workdir, and
// cancel, while the sessions are ended, aborted, listed and closed. Every
// admitted task ends once, and nothing waits for ever.
func TestStress_callers(t *testing.T) {
	r := newRig(t)
	c := r.load("runner", atOnce, func(m *capsule.Manifest) { m.Lifecycle.QueueDepth = 5 })
	shared := t.TempDir()
	const sessions, callers, each = 4, 3, 6

	var all sync.WaitGroup
	for n := range sessions {
		results := &tally{seen: map[string]int{}}
		s, err := r.rt.Start(t.Context(), c, SessionOptions{Workdir: shared, OnResult: results.add})
		require.NoError(t, err)
		var mu sync.Mutex
		var tickets []*Ticket
		var calling sync.WaitGroup
		for i := range callers {
			calling.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				for range each {
					ticket, err := s.Submit(t.Context(), Task{Origin: provenance.User, Message: "echo " + fmt.Sprint(rng.IntN(9))})
					if refused := (*RefusedError)(nil); errors.As(err, &refused) || errors.Is(err, ErrSessionEnded) {
						continue
					}
					if !assert.NoError(t, err) {
						return
					}
					mu.Lock()
					tickets = append(tickets, ticket)
					mu.Unlock()
					switch rng.IntN(3) {
					case 0:
						ticket.Cancel()
					case 1:
						<-ticket.Done()
					}
				}
			})
		}
		all.Go(func() {
			switch n {
			case 0: // ended while everybody calls
				s.End()
			case 1:
				s.Abort()
				s.End()
			case 2:
				calling.Wait()
				assert.NoError(t, s.WaitIdle(t.Context()))
				s.End()
			default: // the runtime's own Close ends it
				_, _, err := Jobs(t.Context(), r.rt.StateDir())
				assert.NoError(t, err)
				calling.Wait()
			}
			calling.Wait()
			if n == sessions-1 {
				assert.NoError(t, r.rt.Close())
			}
			assert.NoError(t, s.Wait(t.Context()))
			for _, ticket := range tickets {
				res, err := ticket.Wait(t.Context())
				assert.NoError(t, err)
				results.mu.Lock()
				assert.Equal(t, 1, results.seen[ticket.TaskID()], "task %s: %s", ticket.TaskID(), res.Result)
				results.mu.Unlock()
			}
			_, err := s.Submit(t.Context(), Task{Message: "true"})
			assert.ErrorIs(t, err, ErrSessionEnded)
		})
	}
	all.Wait()
	_, err := r.rt.Start(t.Context(), c, SessionOptions{})
	assert.Error(t, err, "the runtime is closed")
}

// Several runtimes want to go on with one session, all at once: one does.
func TestStress_oneResumes(t *testing.T) {
	r := newRig(t)
	c := r.load("runner", atOnce)
	old := r.start(c, SessionOptions{})
	old.do("true")
	old.end()

	const rivals = 6
	got := make([]*Session, rivals)
	refused := make([]error, rivals)
	var all sync.WaitGroup
	for i := range rivals {
		all.Go(func() { got[i], refused[i] = r.rt.Start(t.Context(), c, SessionOptions{Resume: old.s.ID()}) })
	}
	all.Wait()
	delivered := 0
	for i, s := range got {
		if s == nil {
			assert.ErrorContains(t, refused[i], "it is still running, as process")
			continue
		}
		require.NoError(t, s.WaitIdle(t.Context()))
		s.End()
		require.NoError(t, s.Wait(t.Context()))
		events, _, err := ReadTrace(SessionInfo{Dir: s.Dir()}.TracePath())
		require.NoError(t, err)
		for _, e := range events {
			if e.Type == "shell_followed_up" {
				delivered++
			}
		}
	}
	assert.LessOrEqual(t, delivered, 1, "one result is taken once")
}
