package runtime

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

func onlyOne(m *capsule.Manifest) {
	m.Lifecycle.TaskAcceptance, m.Lifecycle.AfterTask = capsule.AcceptSingle, capsule.AfterExit
}

// A session that ends after its one task does not end after a report on an
// earlier session's command.
func TestLifecycle_aReportIsNotTheOneTask(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	c := r.load("runner", atOnce, onlyOne)
	first := r.start(c, SessionOptions{})
	first.do(g.command("true"))
	require.NoError(t, first.s.Wait(t.Context()))

	next := r.start(c, SessionOptions{Resume: first.s.ID()})
	g.open(t)
	next.await(trace.ShellFollowedUp, 1)
	assert.Equal(t, "passed", next.tool(next.do("true")).Status)
	require.NoError(t, next.s.Wait(t.Context()), "and ends after that")
}

// What a session did not get to deliver is owed to whoever resumes it, however
// far back the command was started.
func TestLifecycle_theWholeLineIsTakenOver(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	first := r.start(r.load("runner", atOnce), SessionOptions{})
	id := first.tool(first.do(g.command("true"))).Metadata["work_id"]
	first.end()
	second := r.start(r.load("runner"), SessionOptions{Resume: first.s.ID()})
	require.Len(t, second.s.Outstanding(), 1)
	second.end()

	third := r.start(r.load("runner", onlyOne), SessionOptions{Resume: second.s.ID()})
	require.Len(t, third.s.Outstanding(), 1)
	g.open(t)
	assert.Equal(t, id, third.await(trace.ShellFollowedUp, 1).WorkID)
	third.end()
}
