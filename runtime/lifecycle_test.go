package runtime

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
	"github.com/murmur-capsule/murmur/runtime/provenance"
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

// A lost command is told of by each session that resumes, until a guest has taken
// that; from the second time on the trace says so. The context is the resuming
// session's own, the trust that of the task that started the command.
func TestLifecycle_lostIsToldUntilTaken(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	c := r.load("runner", atOnce, inProcess)
	first := r.start(c, SessionOptions{})
	started := first.submit(provenance.Event, g.command("true"))
	first.wait(started)
	first.end()
	g.open(t)
	r.forgetEnd(first.s, trace.ShellAbandoned)

	refuses := func(*Session, *task) outcome { return broken(errors.New("a trap")) }
	second := r.start(c, SessionOptions{
		Resume: first.s.ID(), testOnlyWorker: scripted(refuses), testOnlyRetry: &retryPolicy{attempts: 1},
	})
	second.idle()
	second.end()
	third := r.start(c, SessionOptions{Resume: second.s.ID()})
	third.idle()
	third.end()

	before, after := second.events.of(trace.TaskStart), third.events.of(trace.TaskStart)
	require.Len(t, before, 1)
	require.Len(t, after, 1)
	assert.False(t, before[0].Repeated)
	assert.True(t, after[0].Repeated)
	assert.Equal(t, SourceDetachedLost, after[0].Source)
	assert.Equal(t, "untrusted", after[0].Trust)
	assert.Equal(t, third.s.contextID, after[0].ContextID)
	assert.NotEqual(t, before[0].TaskID, after[0].TaskID)
	assert.Len(t, third.events.of(trace.ShellFollowedUp), 1)

	last := r.start(c, SessionOptions{Resume: third.s.ID()})
	last.idle()
	last.end()
	assert.Empty(t, last.events.of(trace.TaskStart))
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
