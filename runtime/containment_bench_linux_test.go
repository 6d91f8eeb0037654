package runtime

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// BenchmarkContained starts true by a session's runner under each class, and
// beside it by os/exec, in turn.
func BenchmarkContained(b *testing.B) {
	for _, c := range []containment.Class{containment.Advisory, containment.Scoped, containment.Sealed} {
		for _, way := range runners {
			b.Run(string(c)+"/"+way.name, func(b *testing.B) {
				rt, loaded := benchCapsule(b, way.edit, class(c), func(m *capsule.Manifest) {
					m.Capabilities.Shell.Allow = []string{"true"}
				})
				var ours, rival []time.Duration
				measure := scripted(func(s *Session, t *task) outcome {
					for range b.N {
						rival = append(rival, timed(func() { require.NoError(b, exec.Command("true").Run()) }))
						ours = append(ours, timed(func() { s.runTrue(b, t) }))
					}
					return answered("", false)
				})
				s, err := rt.Start(b.Context(), loaded, SessionOptions{testOnlyWorker: measure})
				require.NoError(b, err)
				ticket, err := s.Submit(b.Context(), Task{Origin: provenance.User})
				require.NoError(b, err)
				_, err = ticket.Wait(b.Context())
				require.NoError(b, err)
				compare(b, rival, ours)
				s.End()
				require.NoError(b, s.Wait(b.Context()))
			})
		}
	}
}

// runTrue is the way of one command through the runner.
func (s *Session) runTrue(b *testing.B, t *task) {
	l, err := s.policy.Prepare(shell.Request{Binary: "true", Args: []string{}}, launchName.New(), t.id)
	require.NoError(b, err)
	p, err := s.runner.Start(context.Background(), l)
	require.NoError(b, err)
	<-p.Ended()
	require.Zero(b, p.Exit().Code)
	if d, ok := p.(shell.Durable); ok {
		d.Settle()
	}
}
