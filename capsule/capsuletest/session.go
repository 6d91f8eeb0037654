// Package capsuletest runs a guest in a test: as a session that a Go test talks
// to ([Start]), or against an expectation file that lists tasks and what must
// come of them ([LoadExpectation], [Check]).
//
//	func TestGreeter(t *testing.T) {
//		s := capsuletest.Start(t, "testdata/greeter", capsuletest.Options{
//			Shell: capsuletest.Script{"whoami": {Data: "root"}}.Answer,
//		})
//		r := s.Do("hello")
//		if r.Result != "hello root" {
//			t.Errorf("got %q", r.Result)
//		}
//	}
//
// The guest's file must have been built. Commands that outlive the program have
// no use in a test, so [Start] turns lifecycle.shell_survives off; a program that
// calls [Check] has to call [runtime.Hook] first.
package capsuletest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// TB is what this package needs of a [testing.TB].
type TB interface {
	Helper()
	Context() context.Context
	TempDir() string
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Options configure a session under test. The zero value runs real commands.
type Options struct {
	// Shell answers the guest's requests in place of real commands; see
	// [Script].
	Shell runtime.ShellFunc
	// Change is called with the manifest before the guest is loaded.
	Change func(*capsule.Manifest)
	// Plugins are served to the guest beside the runtime's own.
	Plugins []*host.Plugin
	// Output gets what the guest writes to its standard output and error.
	Output io.Writer
	// Timeout bounds every wait. Defaults to 60 s.
	Timeout time.Duration
}

// A Session is a capsule that runs in a test. Its methods end the test if
// something cannot be done in time. It is for one goroutine.
type Session struct {
	t           TB
	s           *runtime.Session
	log         *log
	timeout     time.Duration
	completions int
}

// Start runs the capsule of a folder, in a fresh workdir. It is ended at the
// end of the test.
func Start(t TB, dir string, o Options) *Session {
	t.Helper()
	m, err := capsule.Load(dir)
	if err != nil {
		t.Fatalf("cannot load the capsule: %v", err)
	}
	m.Lifecycle.ShellSurvives = false
	if o.Change != nil {
		o.Change(m)
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	rt, err := runtime.New(runtime.Options{StateDir: t.TempDir(), Log: io.Discard})
	if err != nil {
		t.Fatalf("cannot start a runtime: %v", err)
	}
	t.Cleanup(func() { _ = rt.Close() })
	c, err := rt.Load(t.Context(), m)
	if err != nil {
		t.Fatalf("cannot load the guest: %v", err)
	}
	s := &Session{t: t, log: newLog(), timeout: o.Timeout}
	s.s, err = rt.Start(t.Context(), c, runtime.SessionOptions{
		Shell: o.Shell, Plugins: o.Plugins, GuestOutput: o.Output, OnResult: s.log.result, OnEvent: s.log.event,
	})
	if err != nil {
		t.Fatalf("cannot start the session: %v", err)
	}
	t.Cleanup(s.s.Abort)
	return s
}

// Session is the session itself, for what this package does not cover.
func (s *Session) Session() *runtime.Session { return s.s }

// Workdir is the path of the session's workdir.
func (s *Session) Workdir() string { return s.s.Workdir() }

// Do gives the guest a message of the user's and waits for what comes of it.
func (s *Session) Do(message string) runtime.TaskResult {
	s.t.Helper()
	return s.Submit(runtime.Task{Origin: provenance.User, Message: message})
}

// Submit gives the guest a task and waits for what comes of it.
func (s *Session) Submit(task runtime.Task) runtime.TaskResult {
	s.t.Helper()
	ctx, cancel := s.deadline()
	defer cancel()
	ticket, err := s.s.SubmitWhenAdmitted(ctx, task)
	if err != nil {
		s.t.Fatalf("cannot submit the task %q: %v", title(task.Message), err)
	}
	result, err := ticket.Wait(ctx)
	if err != nil {
		s.t.Fatalf("the task %q has not ended: %v", title(task.Message), err)
	}
	return result
}

// Completion waits for the completion of a demoted command and returns what
// came of it: the first call the first completion of the session, the next call
// the next.
func (s *Session) Completion() runtime.TaskResult {
	s.t.Helper()
	ctx, cancel := s.deadline()
	defer cancel()
	for {
		result, ok, changed := s.log.next(s.completions)
		if ok {
			s.completions++
			return result
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.t.Fatalf("no completion has come: %v", ctx.Err())
		}
	}
}

// WaitIdle waits until no task and no command of the session is left.
func (s *Session) WaitIdle() {
	s.t.Helper()
	ctx, cancel := s.deadline()
	defer cancel()
	if err := s.s.WaitIdle(ctx); err != nil {
		s.t.Fatalf("the session is still at work: %v", err)
	}
}

// End ends the session and waits for it, so that its trace is whole.
func (s *Session) End() {
	s.t.Helper()
	ctx, cancel := s.deadline()
	defer cancel()
	s.s.End()
	if err := s.s.Wait(ctx); err != nil {
		s.t.Fatalf("cannot end the session: %v", err)
	}
}

// Results returns what came of all tasks so far, in the order in which they
// ended.
func (s *Session) Results() []runtime.TaskResult { return s.log.results() }

// Events returns the trace so far, or of it the events of the given types.
func (s *Session) Events(types ...string) []runtime.Event { return s.log.events(types...) }

func (s *Session) deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.t.Context(), s.timeout)
}

// A Script answers commands by their text: the request's command or, for one
// with arguments, the binary and its arguments with spaces between. It does not
// know grace or demotion; a real command is needed for these.
type Script map[string]runtime.ShellAnswer

// Answer is the script as a [runtime.ShellFunc]. A command that is not in the
// script is answered with an error.
func (s Script) Answer(_ context.Context, r runtime.ShellRequest) runtime.ShellAnswer {
	text := r.Command
	if text == "" {
		text = r.Binary
		for _, arg := range r.Args {
			text += " " + arg
		}
	}
	if answer, ok := s[text]; ok {
		return answer
	}
	return runtime.ShellAnswer{Status: "error", Summary: fmt.Sprintf("the script has no answer to %q", text)}
}
