//go:build !linux

package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/capture"
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
)

// Options configure an in-process runner.
type Options struct {
	// MaxRunning is how many commands may run at a time. Defaults to
	// [DefaultMaxRunning].
	MaxRunning int
	// Sandbox is nil, or one of class advisory: there is no other here, and it
	// has nothing to add.
	Sandbox *containment.Sandbox
}

// InProcess runs commands as children of this process. On this platform a
// command ends when its first process does: processes that it leaves behind are
// neither waited for nor named.
type InProcess struct {
	slots  *Slots
	closed atomic.Bool
}

var _ Runner = (*InProcess)(nil)

// NewInProcess returns a runner.
func NewInProcess(o Options) (*InProcess, error) {
	if o.MaxRunning == 0 {
		o.MaxRunning = DefaultMaxRunning
	}
	return &InProcess{slots: NewSlots(o.MaxRunning)}, nil
}

// Close refuses further commands. Those that run are waited for as before.
func (r *InProcess) Close() error {
	r.closed.Store(true)
	return nil
}

// Start implements [Runner].
func (r *InProcess) Start(ctx context.Context, l Launch) (Process, error) {
	if err := errors.Join(ctx.Err(), l.check()); err != nil {
		return nil, err
	}
	if r.closed.Load() {
		return nil, ErrClosed
	}
	if err := r.slots.Take(); err != nil {
		return nil, err
	}
	c, err := r.start(l)
	if err != nil {
		r.slots.Release()
		return nil, err
	}
	return c, nil
}

func (r *InProcess) start(l Launch) (*Command, error) {
	out, err := capture.Open(l.OutDir, l.Name, l.MaxOutput)
	if err != nil {
		return nil, fmt.Errorf("cannot capture the output: %w", err)
	}
	cmd := exec.Command(l.Path)
	cmd.Args, cmd.Env, cmd.Dir = l.Args, l.Env, l.Dir
	if l.Stdin != nil {
		cmd.Stdin = bytes.NewReader(l.Stdin)
	}
	cmd.Stdout, cmd.Stderr = out.Writers()
	cmd.WaitDelay = stopPatience
	leadGroup(cmd)
	c := &Command{cmd: cmd, capture: out, started: time.Now(), slots: r.slots, ended: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		out.Abort()
		return nil, fmt.Errorf("cannot start %s: %w", Quote(l.Path), err)
	}
	out.Start()
	c.run(l.MaxRuntime)
	return c, nil
}

// stopPatience is how long a command that was asked to end may take.
const stopPatience = 2 * time.Second

// A Command is a process that an [InProcess] runner started.
type Command struct {
	cmd     *exec.Cmd
	capture *capture.Capture
	started time.Time
	slots   *Slots
	ended   chan struct{}

	mu   sync.Mutex
	over bool
	why  Reason
	exit Exit
}

var _ Process = (*Command)(nil)

func (c *Command) run(limit time.Duration) {
	stop := func() bool { return true }
	if limit > 0 {
		stop = time.AfterFunc(limit, func() { c.tearDown(ReasonTimedOut) }).Stop
	}
	go func() {
		err := c.cmd.Wait()
		took := time.Since(c.started)
		stop()
		c.mu.Lock()
		c.over = true
		why := c.why
		c.mu.Unlock()
		c.capture.Finish()
		c.exit = exitOf(c.cmd, err, why)
		c.exit.Duration = took
		c.slots.Release()
		close(c.ended)
	}()
}

func exitOf(cmd *exec.Cmd, err error, why Reason) Exit {
	e := Exit{Reason: why}
	switch {
	case why != "":
		e.Code = -1
	case cmd.ProcessState == nil:
		e.Code, e.WaitErr = -1, err.Error()
	default:
		e.Code, e.Signal = exitCode(cmd.ProcessState)
	}
	return e
}

// Ended implements [Process].
func (c *Command) Ended() <-chan struct{} { return c.ended }

// Exit implements [Process].
func (c *Command) Exit() Exit { return c.exit }

// Started implements [Process].
func (c *Command) Started() time.Time { return c.started }

// Output implements [Process].
func (c *Command) Output() Output { return outputOf(c.capture) }

// Stop implements [Process].
func (c *Command) Stop(ctx context.Context, why Reason) error {
	c.tearDown(why)
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tearDown asks the group to end, and ends it if it does not.
func (c *Command) tearDown(why Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.why != "" {
		return
	}
	c.why = why
	askGroup(c.cmd)
	time.AfterFunc(stopPatience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.over {
			killGroup(c.cmd)
		}
	})
}
