package shell

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/capture"
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

// A Command is a process tree that an [InProcess] runner started.
type Command struct {
	leader  *proctree.Leader
	capture *capture.Capture
	started time.Time
	slots   *Slots
	limit   *time.Timer // ends it; nil without a limit

	contained *contained // nil without a sandbox

	// giveUp makes the wait for the end return: a teardown left survivors.
	giveUp context.CancelFunc

	mu   sync.Mutex
	over bool // it ended by itself: too late to tear it down
	torn *tearing

	ended chan struct{}
	exit  Exit // valid once ended is closed
}

// tearing is a teardown under way.
type tearing struct {
	why     Reason
	done    chan struct{}
	outcome proctree.Outcome
	err     error
}

var _ Process = (*Command)(nil)

func (r *InProcess) watch(l Launch, leader *proctree.Leader, out *capture.Capture, started time.Time, in *contained) *Command {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Command{
		leader:    leader,
		capture:   out,
		started:   started,
		slots:     r.slots,
		contained: in,
		giveUp:    cancel,
		ended:     make(chan struct{}),
	}
	if l.MaxRuntime > 0 {
		left := l.MaxRuntime - time.Since(started)
		c.limit = time.AfterFunc(left, func() { c.tearDown(ReasonTimedOut) })
	}
	go c.run(ctx)
	return c
}

// Ended implements [Process].
func (c *Command) Ended() <-chan struct{} { return c.ended }

// Exit implements [Process].
func (c *Command) Exit() Exit { return c.exit }

// Started implements [Process].
func (c *Command) Started() time.Time { return c.started }

// Identity returns the identity of the command's first process.
func (c *Command) Identity() proctree.Identity { return c.leader.Identity }

// Readers returns duplicates of the ends that the command's output is read
// from; see [capture.Capture.Readers].
func (c *Command) Readers() (stdout, stderr *os.File, err error) { return c.capture.Readers() }

// Pipes returns the inode numbers of the pipes that the command's output goes
// through; see [capture.Capture.Pipes].
func (c *Command) Pipes() [2]uint64 { return c.capture.Pipes() }

// Output implements [Process].
func (c *Command) Output() Output { return outputOf(c.capture) }

// Stop implements [Process]. The teardown goes on if ctx ends.
func (c *Command) Stop(ctx context.Context, why Reason) error {
	go c.tearDown(why)
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tearDown ends the tree, once, unless it has ended.
func (c *Command) tearDown(why Reason) {
	c.mu.Lock()
	if c.over || c.torn != nil {
		c.mu.Unlock()
		return
	}
	t := &tearing{why: why, done: make(chan struct{})}
	c.torn = t
	c.mu.Unlock()
	t.outcome, t.err = c.leader.Tree().Teardown(context.Background())
	if len(t.outcome.Survivors) > 0 {
		t.outcome.Survivors = c.contained.killAll(t.outcome.Survivors)
	}
	close(t.done)
	if len(t.outcome.Survivors) > 0 || t.err != nil {
		c.giveUp()
	}
}

// run waits for the end and publishes it.
func (c *Command) run(ctx context.Context) {
	defer c.giveUp()
	end, err := c.leader.Wait(ctx)
	took := time.Since(c.started)
	t := c.settle()
	c.capture.Finish()
	var how containment.End
	if err == nil {
		how, end.Left = c.contained.finish(end)
	} else {
		go c.contained.forget() // It may be long until its end is known.
	}
	c.exit = exitOf(how, end.Left, err, t)
	c.exit.Duration = took
	c.slots.Release()
	close(c.ended)
}

// settle decides whether the command ended by itself; if not, it returns the
// teardown, which is over then.
func (c *Command) settle() *tearing {
	if c.limit != nil {
		c.limit.Stop()
	}
	c.mu.Lock()
	c.over = true
	t := c.torn
	c.mu.Unlock()
	if t != nil {
		<-t.done
	}
	return t
}

// exitOf tells how a command ended. A teardown that found nothing to signal came
// too late to be the reason.
func exitOf(how containment.End, left []proctree.Proc, err error, t *tearing) Exit {
	e := Exit{LeftRunning: survivors(left), Limit: how.Limit}
	if t != nil && (t.outcome.Signalled > 0 || len(t.outcome.Survivors) > 0 || t.err != nil) {
		e.Code, e.Reason = -1, t.why
		e.LeftRunning, e.Survivors = nil, survivors(t.outcome.Survivors)
		if err = t.err; err == nil {
			return e
		}
	}
	if err == nil {
		e.Code, e.Signal = how.Code, how.Signal
		return e
	}
	e.Code = -1
	if !errors.Is(err, context.Canceled) {
		e.WaitErr = err.Error()
	}
	return e
}

func survivors(procs []proctree.Proc) []Survivor {
	var list []Survivor
	for _, p := range procs {
		list = append(list, Survivor{PID: p.PID, Name: p.Name})
	}
	return list
}
