package runtime

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/toolrun"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

func TestSession_foreground(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{})
	res := s.do("echo hi")
	out := s.tool(res)
	assert.Equal(t, "passed", out.Status)
	assert.Contains(t, out.Data, "hi\n")
	assert.Equal(t, 1, res.ShellCalls)
	s.end()
	assert.Equal(t, []string{
		trace.SessionStart, trace.TaskStart, trace.Shell, trace.TaskEnd, trace.SessionEnd,
	}, s.events.kinds())
	assert.Empty(t, r.log.String())
}

func TestSession_demotionComesBack(t *testing.T) {
	for _, tt := range []struct {
		origin provenance.Origin
		trust  provenance.Trust
	}{
		{provenance.User, provenance.Trusted},
		{provenance.Event, provenance.Untrusted},
	} {
		t.Run(tt.origin.String(), func(t *testing.T) {
			r := newRig(t)
			g := r.gate()
			results := make(chan TaskResult, 8)
			s := r.start(r.load("runner", atOnce), SessionOptions{OnResult: func(res TaskResult) { results <- res }})
			first := s.wait(s.submit(tt.origin, g.command("echo done")))
			<-results
			id := s.tool(first).Metadata["work_id"]
			require.Regexp(t, `^wrk_[0-9a-f]+$`, id)
			outstanding := s.s.Outstanding()
			require.Len(t, outstanding, 1)
			assert.Equal(t, id, outstanding[0].ID())

			g.open(t)
			s.idle()
			res := <-results
			assert.Equal(t, first.ContextID, res.ContextID)
			assert.Equal(t, SourceDetachedShell, res.Source)
			assert.Equal(t, provenance.Completion, res.Origin)
			assert.Equal(t, tt.trust, res.Trust)
			assert.Contains(t, res.Result, "\nstatus: ok\n")
			assert.Contains(t, s.file("logs/"+id+".log"), "done\n")
			assert.Empty(t, s.s.Outstanding())
			s.end()
			assert.Equal(t, []string{
				trace.SessionStart, trace.TaskStart, trace.ShellDetached, trace.TaskEnd, trace.ShellCompleted,
				trace.TaskStart, trace.TaskEnd, trace.ShellFollowedUp, trace.SessionEnd,
			}, s.events.kinds())
		})
	}
}

// A command that a completion starts is as little trusted as the one before.
func TestSession_untrustedAllTheWay(t *testing.T) {
	r := newRig(t)
	left := 3
	s := r.start(r.load("runner"), SessionOptions{testOnlyWorker: scripted(func(s *Session, t *task) outcome {
		if left > 0 {
			left--
			s.background(t, "true")
		}
		return answered("", false)
	})})
	s.wait(s.submit(provenance.Event, ""))
	s.idle()
	s.end()
	starts := s.events.of(trace.TaskStart)
	require.Len(t, starts, 4)
	for _, e := range starts {
		assert.Equal(t, "untrusted", e.Trust)
	}
}

// A scriptedWorker stands for a guest.
type scriptedWorker struct {
	s *Session
	f func(*Session, *task) outcome
}

func scripted(f func(*Session, *task) outcome) func(*Session) worker {
	return func(s *Session) worker { return scriptedWorker{s, f} }
}

func (w scriptedWorker) run(_ context.Context, t *task) outcome { return w.f(w.s, t) }
func (w scriptedWorker) close()                                 {}

// background runs a command in the background, as a guest would.
func (s *Session) background(t *task, command string) toolrun.Result {
	return s.runCommand(t, request{shell.Request{Binary: "bash", Command: command, Background: true}})
}

func TestSession_ways(t *testing.T) {
	for _, tt := range []struct {
		fixture, message, want string
	}{
		{"looper", "echo from the loop", "from the loop"},
		{"command", "hello", "hello"},
	} {
		t.Run(tt.fixture, func(t *testing.T) {
			r := newRig(t)
			s := r.start(r.load(tt.fixture, queued2), SessionOptions{})
			for range 2 {
				res := s.do(tt.message)
				assert.Equal(t, StatusOK, res.Status, res.Result)
				assert.Contains(t, res.Result, tt.want)
			}
			s.end()
		})
	}
}

func queued2(m *capsule.Manifest) {
	m.Lifecycle.TaskAcceptance, m.Lifecycle.AfterTask = capsule.AcceptQueue, capsule.AfterSleep
}

// A trap fails its task and no other.
func TestSession_trapThenFreshInstance(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("hostile", queued2), SessionOptions{})
	res := s.do("data-outside")
	assert.Equal(t, StatusError, res.Status)
	var trap *host.TrapError
	require.ErrorAs(t, res.Err, &trap)
	assert.NotEmpty(t, trap.Function)
	assert.Equal(t, StatusOK, s.do("behave").Status)
	s.end()
	assert.Equal(t, trace.StatusTrap, s.events.of(trace.TaskEnd)[0].ExitStatus)
}

// Cancelling a task demotes what its guest waits for, and kills nothing.
func TestSession_cancelDemotes(t *testing.T) {
	r := newRig(t)
	g, started := r.gate(), r.gate()
	s := r.start(r.load("runner", func(m *capsule.Manifest) { m.Lifecycle.ShellGraceSecs = 3600 }), SessionOptions{})
	ticket := s.submit(provenance.User, "echo up > "+started.path+"; "+g.command("echo survived"))
	_, err := os.ReadFile(started.path)
	require.NoError(t, err)
	ticket.Cancel()
	res := s.wait(ticket)
	assert.ErrorIs(t, res.Err, host.ErrCanceled)
	id := s.await(trace.ShellDetached, 1).WorkID
	g.open(t)
	s.idle()
	assert.Contains(t, s.file("logs/"+id+".log"), "survived\n")
	s.end()
}

func TestSession_lifecycle(t *testing.T) {
	t.Run("single and exit", func(t *testing.T) {
		r := newRig(t)
		s := r.start(r.load("runner", func(m *capsule.Manifest) {
			m.Lifecycle.TaskAcceptance, m.Lifecycle.AfterTask = capsule.AcceptSingle, capsule.AfterExit
		}), SessionOptions{})
		s.do("true")
		require.NoError(t, s.s.Wait(t.Context()))
		_, err := s.s.Submit(t.Context(), Task{Message: "true"})
		assert.ErrorIs(t, err, ErrSessionEnded)
	})
	t.Run("none", func(t *testing.T) {
		r := newRig(t)
		s := r.start(r.load("runner", func(m *capsule.Manifest) {
			m.Lifecycle.TaskAcceptance, m.Lifecycle.AfterTask = capsule.AcceptNone, capsule.AfterExit
		}), SessionOptions{})
		_, err := s.s.Submit(t.Context(), Task{Message: "true"})
		var refused *RefusedError
		assert.ErrorAs(t, err, &refused)
		s.end()
	})
	t.Run("a full queue", func(t *testing.T) {
		r := newRig(t)
		g := r.gate()
		s := r.start(r.load("runner"), SessionOptions{})
		running := s.submit(provenance.User, g.command("true"))
		s.await(trace.TaskStart, 1)
		waiting := s.submit(provenance.User, "echo second")
		_, err := s.s.Submit(t.Context(), Task{Origin: provenance.User, Message: "true"})
		var refused *RefusedError
		require.ErrorAs(t, err, &refused)
		assert.Contains(t, err.Error(), "1")
		g.open(t)
		s.wait(running)
		assert.Contains(t, s.wait(waiting).Result, "second")
		s.end()
	})
}

// What a session's end leaves behind is reported once, and nothing is killed.
func TestSession_abandonment(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	s := r.start(r.load("runner", atOnce, inProcess), SessionOptions{})
	id := s.tool(s.do(g.command("touch finished"))).Metadata["work_id"]
	work := s.s.Outstanding()[0]
	s.end()
	text := r.log.String()
	assert.Contains(t, text, "[capsule-runtime] 1 background shell command discarded at session end.")
	assert.Contains(t, text, "Session "+s.s.ID())
	assert.Contains(t, text, "work_id: "+id)
	assert.Contains(t, text, "state: still running after ")
	assert.Contains(t, text, "no logs/"+id+".log will be written")
	left := s.events.of(trace.ShellAbandoned)
	require.Len(t, left, 1)
	assert.Equal(t, id, left[0].WorkID)
	assert.Nil(t, left[0].ExitCode)
	log, err := os.ReadFile(filepath.Join(s.s.Dir(), "logs", "bootstrap.log"))
	require.NoError(t, err)
	assert.Equal(t, text, string(log))
	g.open(t)
	<-work.Ended()
	assert.FileExists(t, filepath.Join(s.s.Workdir(), "finished"))
}

func inProcess(m *capsule.Manifest) { m.Lifecycle.ShellSurvives = false }

// What a supervisor has is carried, and comes back to the next session of the
// same capsule and workdir.
func TestSession_carried(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	c := r.load("runner", atOnce)
	s := r.start(c, SessionOptions{})
	id := s.tool(s.do(g.command("echo survived"))).Metadata["work_id"]
	s.end()
	assert.Contains(t, r.log.String(), "[capsule-runtime] 1 background shell command still running under supervision at session end.")
	require.Len(t, s.events.of(trace.ShellCarried), 1)
	assert.Equal(t, id, s.events.of(trace.ShellCarried)[0].WorkID)
	assert.Empty(t, s.events.of(trace.ShellAbandoned))

	next := r.start(c, SessionOptions{Workdir: s.s.Workdir()})
	require.Len(t, next.s.Outstanding(), 1)
	g.open(t)
	next.idle()
	done := next.await(trace.ShellFollowedUp, 1)
	assert.Equal(t, id, done.WorkID)
	assert.Contains(t, next.file("logs/"+id+".log"), "survived\n")
	next.end()

	third := r.start(c, SessionOptions{Resume: next.s.ID()})
	third.idle()
	third.end()
	assert.Equal(t, []string{trace.SessionStart, trace.SessionEnd}, third.events.kinds(), "it is followed up once")
}

func TestSession_stopWork(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	results := make(chan TaskResult, 8)
	s := r.start(r.load("runner", atOnce), SessionOptions{OnResult: func(res TaskResult) { results <- res }})
	s.do(g.command("true"))
	<-results
	work := s.s.Outstanding()[0]
	require.NoError(t, work.Stop(t.Context()))
	require.NoError(t, work.Stop(t.Context()), "stopping is idempotent")
	s.idle()
	res := <-results
	assert.Contains(t, lines(res.Result), "reason: killed")
	assert.Contains(t, lines(res.Result), "exit_code: -1")
	s.end()
}

// A completion whose guest traps is delivered again, marked as repeated, and
// given up in the end with a report.
func TestSession_completionIsRetried(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{
		testOnlyRetry: &retryPolicy{attempts: 3, delay: func(int) time.Duration { return 0 }},
		testOnlyWorker: scripted(func(s *Session, t *task) outcome {
			if t.delivery != nil {
				return broken(&host.TrapError{Cause: "by request"})
			}
			s.background(t, "true")
			return answered("", false)
		}),
	})
	s.do("")
	s.idle()
	s.end()
	starts := s.events.of(trace.TaskStart)
	require.Len(t, starts, 4)
	assert.False(t, starts[1].Repeated)
	assert.True(t, starts[2].Repeated)
	assert.Equal(t, starts[1].TaskID, starts[3].TaskID)
	assert.Empty(t, s.events.of(trace.ShellFollowedUp))
	assert.Contains(t, r.log.String(), "in 3 attempts and is given up")
}

func TestSession_badMessages(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{})
	_, err := s.s.Submit(t.Context(), Task{Message: "a\xff"})
	assert.EqualError(t, err, "the message is not valid UTF-8")
	for _, id := range []string{"ctx\n", "a b", "\x00", "ctx\xff", "\u202e", strings.Repeat("c", 257)} {
		_, err = s.s.Submit(t.Context(), Task{Message: "true", ContextID: id})
		assert.ErrorContains(t, err, "the context id is not at most 256 printable characters")
	}
	_, err = s.s.Submit(t.Context(), Task{Message: string(make([]byte, MaxMessage+1))})
	assert.ErrorContains(t, err, "over the limit")
	s.end()
}
