package detach_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A command is a process whose end the test decides on.
type command struct {
	started time.Time
	ended   chan struct{}
	once    sync.Once
	exit    shell.Exit
	out     shell.Output
	stopErr error
}

func start() *command { return &command{started: time.Now(), ended: make(chan struct{})} }

func (c *command) Ended() <-chan struct{} { return c.ended }
func (c *command) Exit() shell.Exit       { return c.exit }
func (c *command) Started() time.Time     { return c.started }
func (c *command) Output() shell.Output   { return c.out }

func (c *command) Stop(_ context.Context, why shell.Reason) error {
	c.end(shell.Exit{Code: -1, Reason: why})
	return c.stopErr
}

func (c *command) end(e shell.Exit) {
	c.once.Do(func() {
		if e.Duration == 0 {
			e.Duration = time.Since(c.started)
		}
		c.exit = e
		close(c.ended)
	})
}

// endAfter ends the command with code after d of the bubble's time.
func (c *command) endAfter(d time.Duration, code int) {
	go func() {
		time.Sleep(d)
		c.end(shell.Exit{Code: code})
	}()
}

// A durable command is supervised.
type durable struct {
	*command
	demoted   []string
	demoteErr error
}

func (d *durable) Demote(_ context.Context, to shell.Demotion) error {
	d.demoted = append(d.demoted, to.WorkID)
	return d.demoteErr
}

func (d *durable) Settle() {}

func writeLog(w detach.Work, _ shell.Output, _ shell.Exit) detach.Log {
	return detach.Log{Path: w.LogPath(), Bytes: 91}
}

// policy is that of a user's task, with a grace of a second.
func policy(r *detach.Registry) *detach.Policy {
	task := provenance.Derive(provenance.User, nil)
	return &detach.Policy{
		Grace: time.Second, Registry: r, Binary: "/usr/bin/bash", Command: "sleep 3",
		TaskID: "tsk_1", ContextID: "ctx_1", Provenance: &task, WriteLog: writeLog,
	}
}

// inBubble runs f with a clock that jumps as soon as everything waits.
func inBubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func await(t *testing.T, c shell.Process, p *detach.Policy) *detach.Work {
	t.Helper()
	w, err := detach.Await(c, p)
	require.NoError(t, err)
	return w
}

// completion receives the next report, which must be a completion.
func completion(t *testing.T, r *detach.Registry) detach.Completion {
	t.Helper()
	report, err := r.Next(t.Context())
	require.NoError(t, err)
	require.IsType(t, detach.Completion{}, report)
	return report.(detach.Completion)
}

// requireNoReport says that nothing was reported once everything waits.
func requireNoReport(t *testing.T, r *detach.Registry) {
	t.Helper()
	synctest.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func outstanding(r *detach.Registry) (works []string) {
	for _, h := range r.Outstanding() {
		works = append(works, h.Work().ID)
	}
	return works
}
