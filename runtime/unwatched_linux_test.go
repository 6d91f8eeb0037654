package runtime

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// A command whose supervisor died, with nothing left by which another one could
// take it over, is watched by its record: it does not stay running for ever.
func TestAdopt_aCommandThatNoSupervisorHas(t *testing.T) {
	was := lookAgainDelay
	lookAgainDelay = 10 * time.Millisecond
	t.Cleanup(func() { lookAgainDelay = was })
	r := newRig(t)
	g := r.gate()
	c := r.load("runner", atOnce)
	first := r.start(c, SessionOptions{})
	first.do(g.command("true"))
	first.end()
	killSupervisors(t, first.s.Dir())
	require.Eventually(t, func() bool { return !supervisor.Alive(first.s.Dir()) }, time.Minute, time.Millisecond)
	require.NoError(t, os.Remove(filepath.Join(first.s.Dir(), "journal")))

	next := r.start(c, SessionOptions{Workdir: first.s.Workdir()})
	require.Len(t, next.s.Outstanding(), 1)
	g.open(t)
	next.idle()
	next.end()
	done := next.events.of(trace.ShellCompleted)
	require.Len(t, done, 1)
	assert.Equal(t, "died", done[0].Reason)
	assert.EqualValues(t, -1, *done[0].ExitCode)
}
