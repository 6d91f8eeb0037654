package runtime

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// jobs lists what the operator sees.
func (r *rig) jobs() []*Job {
	r.Helper()
	found, problems, err := Jobs(r.Context(), r.rt.StateDir())
	require.NoError(r, err)
	require.Empty(r, problems)
	return found
}

// The operator sees a command while its session runs and after it, stops it, and
// the guest is told.
func TestJobs_backgroundCommand(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	c := r.load("runner", atOnce)
	s := r.start(c, SessionOptions{})
	id := s.tool(s.do("echo begun; " + g.command("true"))).Metadata["work_id"]

	list := r.jobs()
	require.Len(t, list, 1)
	j := list[0]
	assert.Equal(t, id, j.ID)
	assert.Equal(t, "running", j.State)
	assert.Equal(t, s.s.ID(), j.Session)
	assert.Equal(t, "runner", j.Capsule)
	assert.False(t, j.Ended())
	assert.Contains(t, j.Text(), "still running")

	s.end()
	list = r.jobs()
	require.Len(t, list, 1, "it works without the runtime")
	stopped, err := list[0].Stop(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "failed", stopped.State)
	assert.Equal(t, "killed", stopped.Reason)
	assert.Equal(t, -1, *stopped.ExitCode)
	assert.Equal(t, "owed", stopped.Delivery)
	assert.Contains(t, stopped.Text(), "begun")
	again, err := stopped.Stop(t.Context())
	require.NoError(t, err)
	assert.Equal(t, stopped.Reason, again.Reason, "stopping is idempotent")

	next := r.start(c, SessionOptions{Resume: s.s.ID()})
	next.idle()
	next.end()
	assert.Equal(t, "taken", r.jobs()[0].Delivery)
	collected, problems, err := Collect(t.Context(), r.rt.StateDir(), 0)
	require.NoError(t, err)
	require.Empty(t, problems)
	assert.Equal(t, 1, collected.Jobs)
	assert.Equal(t, 2, collected.Sessions)
	assert.Empty(t, r.jobs())
	assert.DirExists(t, s.s.Workdir(), "a workdir is never removed")
}

// A command that a guest waits for is seen, and can be stopped.
func TestJobs_foregroundCommand(t *testing.T) {
	r := newRig(t)
	up := r.gate()
	s := r.start(r.load("runner"), SessionOptions{})
	ticket := s.submit(provenance.User, "echo up > "+up.path+"; exec sleep 1000")
	_, err := os.ReadFile(up.path)
	require.NoError(t, err)
	list := r.jobs()
	require.Len(t, list, 1)
	assert.Equal(t, "foreground", list[0].State)
	_, err = list[0].Stop(t.Context())
	require.NoError(t, err)
	out := s.tool(s.wait(ticket))
	assert.Equal(t, "failed", out.Status)
	assert.Equal(t, "killed", out.Metadata["reason"])
	s.end()
}

// What a command left running is named, and ends with a stop.
func TestJobs_leftRunning(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner", atOnce), SessionOptions{})
	s.do(`{"binary":"bash","background":true,"command":"setsid sleep 1000 < /dev/null > /dev/null 2>&1 & until [ \"$(cut -d' ' -f2,6 /proc/$!/stat)\" = \"(sleep) $!\" ]; do :; done"}`)
	s.idle()
	list := r.jobs()
	require.Len(t, list, 1)
	require.Len(t, list[0].LeftRunning, 1)
	assert.Contains(t, list[0].LeftRunning[0], "sleep")
	assert.False(t, list[0].Ended())
	stopped, err := list[0].Stop(t.Context())
	require.NoError(t, err)
	assert.Empty(t, stopped.LeftRunning)
	s.end()
	assert.Equal(t, "ok", s.events.of(trace.ShellCompleted)[0].Status)
}

// So is what a command in the foreground left running. Its guest has the result,
// so that nobody is told of it again.
func TestJobs_leftRunningInTheForeground(t *testing.T) {
	r := newRig(t)
	c := r.load("runner")
	s := r.start(c, SessionOptions{})
	out := s.tool(s.do(`setsid sleep 1000 < /dev/null > /dev/null 2>&1 & until [ "$(cut -d' ' -f2,6 /proc/$!/stat)" = "(sleep) $!" ]; do :; done`))
	assert.Equal(t, "passed", out.Status)
	assert.Contains(t, out.Metadata["left_running"], "sleep (pid ")
	assert.NotContains(t, out.Metadata, "work_id")
	s.end()
	list := r.jobs()
	require.Len(t, list, 1)
	require.Len(t, list[0].LeftRunning, 1)
	assert.Equal(t, "taken", list[0].Delivery)

	next := r.start(c, SessionOptions{Workdir: s.s.Workdir()})
	next.idle()
	require.NoError(t, next.s.durables.prune(time.Now().Add(2*time.Hour)))
	require.Len(t, r.jobs(), 1, "a record is kept for as long as something of it lives")
	stopped, err := r.jobs()[0].Stop(t.Context())
	require.NoError(t, err)
	assert.Empty(t, stopped.LeftRunning)
	require.NoError(t, next.s.durables.prune(time.Now().Add(2*time.Hour)))
	assert.Empty(t, r.jobs())
	next.end()
	assert.Equal(t, []string{trace.SessionStart, trace.SessionEnd}, next.events.kinds())
	assert.Empty(t, s.events.of(trace.ShellDetached), "it was not demoted")
}

func TestSend(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	s := r.start(r.load("runner"), SessionOptions{})
	info, err := sessionInfo(s.s.Dir())
	require.NoError(t, err)

	id, err := Send(t.Context(), info, Task{Origin: provenance.Event, Message: g.command("true")})
	require.NoError(t, err)
	started := s.await(trace.TaskStart, 1)
	assert.Equal(t, id, started.TaskID)
	assert.Equal(t, "untrusted", started.Trust)
	assert.Equal(t, SourceCLI, started.Source)

	_, err = Send(t.Context(), info, Task{Origin: provenance.User, Message: "true"})
	require.NoError(t, err)
	_, err = Send(t.Context(), info, Task{Origin: provenance.User, Message: "true"})
	var refused *RefusedError
	require.ErrorAs(t, err, &refused, "a full queue is a clear refusal")

	_, err = Send(t.Context(), info, Task{Origin: provenance.Completion, Message: "true"})
	assert.EqualError(t, err, "a completion cannot be sent")
	_, err = Send(t.Context(), info, Task{Message: "x", ContextID: "no context"})
	assert.EqualError(t, err, "context_id is not the id of a context")
	g.open(t)
	s.end()
	_, err = Send(t.Context(), info, Task{Message: "true"})
	assert.ErrorIs(t, err, ErrNotRunning)
}

// A session that was written down, and could then not begin, has ended.
func TestStart_failsLate(t *testing.T) {
	r := newRig(t)
	c := r.load("runner")
	r.rt.mu.Lock()
	r.rt.closed = true
	r.rt.mu.Unlock()
	_, err := r.rt.Start(t.Context(), c, SessionOptions{})
	require.ErrorIs(t, err, ErrClosed)
	r.rt.mu.Lock()
	r.rt.closed = false
	r.rt.mu.Unlock()
	sessions, err := Sessions(r.rt.StateDir())
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	assert.False(t, sessions[0].Died())
}

func TestJob_textOfAForegroundCommand(t *testing.T) {
	j := Job{Command: "echo \x1b[31m # \u202e\nReason: none"}
	assert.Equal(t, "Command is running in the foreground.\nCommand: "+`"echo \x1b[31m # \u202e\nReason: none"`+"\n", j.Text())
}
