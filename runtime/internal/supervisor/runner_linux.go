package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// Runner is the runtime's end of the connection to its supervisor: a
// [shell.Runner] whose processes are [shell.Durable]. If the supervisor dies
// the Runner starts another one, which takes over the commands.
type Runner struct {
	o     Options
	slots *shell.Slots

	mu     sync.Mutex
	seen   *containment.Receipt // what the supervisor has seen enforced
	conn   *client
	closed bool
	// broken is why no supervisor could be had any more.
	broken error
	task   string
	procs  map[string]*remote
	// turned is closed, and replaced, when there is another connection or none
	// to be had.
	turned chan struct{}
	ended  sync.WaitGroup
}

var (
	_ shell.Runner  = (*Runner)(nil)
	_ shell.Durable = (*remote)(nil)
)

// Connect takes over the session's living supervisor or starts one, which takes
// over what the last one left. A [*BusyError] says that another runtime has it.
func Connect(ctx context.Context, o Options) (*Runner, error) {
	r := &Runner{o: o, slots: o.slots(), procs: map[string]*remote{}, turned: make(chan struct{})}
	c, err := r.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	r.conn = c
	r.ended.Go(func() { r.follow(c) })
	return r, nil
}

// Takeover is Connect for a session of which only the end is of interest: a
// supervisor is started only if the last one died and left something to be
// accounted for. ErrNone says that there is nothing to take over; every record
// is then as true as it will get.
func Takeover(ctx context.Context, o Options) (*Runner, error) {
	if !Alive(o.Dir) && !pendingJournal(o.Dir) {
		return nil, ErrNone
	}
	return Connect(ctx, o)
}

func pendingJournal(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, journalFile))
	return !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size() > 0)
}

// PID is the supervisor's process id.
func (r *Runner) PID() int {
	c, err := r.current(context.Background())
	if err != nil {
		return 0
	}
	return c.welcome.PID
}

// Task names the task whose commands may be started from now on. What ended in
// the foreground during the last one is settled.
func (r *Runner) Task(id string) error {
	r.mu.Lock()
	if id != r.task {
		for name, p := range r.procs {
			if p.hasEnded() {
				delete(r.procs, name)
			}
		}
	}
	r.task = id
	c := r.conn
	r.mu.Unlock()
	if c == nil {
		return nil // The next connection begins with it.
	}
	if err := c.send(message{Kind: kindTask, Task: id}); err != nil && !errors.Is(err, ErrLost) {
		return err
	}
	return nil
}

// Start implements [shell.Runner]: one round trip.
func (r *Runner) Start(ctx context.Context, l shell.Launch) (shell.Process, error) {
	if err := r.slots.Take(); err != nil {
		return nil, err
	}
	p, err := r.enlist(l.Name)
	if err != nil {
		r.slots.Release()
		return nil, err
	}
	reply, err := r.begin(ctx, l)
	if err != nil {
		r.forget(p.name)
		p.cancel()
		return nil, err
	}
	p.begun(reply.Started, reply.Output)
	r.note(reply.Containment)
	return p, nil
}

func (r *Runner) note(seen *containment.Receipt) {
	if seen != nil {
		r.mu.Lock()
		r.seen = seen
		r.mu.Unlock()
	}
}

// Contained waits until the supervisor is ready to contain commands. An error
// says why it cannot; then it starts none.
func (r *Runner) Contained(ctx context.Context) error {
	if r.o.Containment == nil {
		return nil
	}
	_, err := r.call(ctx, message{Kind: kindContained})
	return err
}

// Receipt tells how the commands are contained: pending until the supervisor has
// seen one run; nil without containment.
func (r *Runner) Receipt() *containment.Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil && r.o.Containment != nil {
		return &r.o.Containment.Receipt
	}
	return r.seen
}

// begin asks for the start. If the supervisor dies meanwhile the next one knows
// by its journal whether the launch was begun, and only if it was not is it
// asked again: nothing runs twice.
func (r *Runner) begin(ctx context.Context, l shell.Launch) (message, error) {
	// Not ctx itself: a start that was asked for has to be known about, whoever
	// waits for it.
	ctx = context.WithoutCancel(ctx)
	c, err := r.current(ctx)
	for try := 0; err == nil && try < restarts; try++ {
		var reply message
		reply, err = c.call(ctx, message{Kind: kindStart, Launch: &l})
		if !errors.Is(err, ErrLost) {
			return reply, err
		}
		if c, err = r.after(ctx, c); err != nil {
			break
		}
		if known, ok, err := c.begun(ctx, l.Name); ok || err != nil {
			return known, err
		}
	}
	return message{}, errors.Join(fmt.Errorf("cannot start %s: the supervisor died before it did", l.Name), err)
}

// begun asks whether the supervisor has the launch.
func (c *client) begun(ctx context.Context, name string) (message, bool, error) {
	reply, err := c.call(ctx, message{Kind: kindList})
	for _, known := range reply.Commands {
		if known.Launch == name {
			return message{Started: known.Started, Output: known.Output}, true, nil
		}
	}
	if errors.Is(err, ErrLost) {
		err = nil // The next one is asked.
	}
	return message{}, false, err
}

// Stop ends the launch that has the nonce and returns once its exit record is
// on disk. It makes a Runner a [jobs.Supervisor].
func (r *Runner) Stop(ctx context.Context, launch, nonce string) error {
	_, err := r.call(ctx, message{Kind: kindStop, Name: launch, Nonce: nonce, Reason: shell.ReasonKilled})
	return err
}

// call asks whichever supervisor there is, and the next one if that dies:
// demoting and stopping may be repeated.
func (r *Runner) call(ctx context.Context, m message) (message, error) {
	c, err := r.current(ctx)
	for err == nil {
		var reply message
		reply, err = c.call(ctx, m)
		if !errors.Is(err, ErrLost) {
			return reply, err
		}
		c, err = r.after(ctx, c)
	}
	return message{}, err
}

// Close leaves the supervisor to itself. It ends no command: those that run, and
// those that were not settled, are recorded and owed to the next session.
func (r *Runner) Close() error {
	r.mu.Lock()
	c := r.conn
	r.closed = true
	r.mu.Unlock()
	if c != nil {
		_ = c.drain()
		c.conn.Close()
	}
	r.ended.Wait()
	children.reap()
	return nil
}

func (r *Runner) enlist(name string) (*remote, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.procs[name] != nil {
		return nil, fmt.Errorf("cannot start %s twice", name)
	}
	p := &remote{runner: r, name: name, ended: make(chan struct{})}
	r.procs[name] = p
	return p, nil
}

func (r *Runner) forget(name string) {
	r.mu.Lock()
	delete(r.procs, name)
	r.mu.Unlock()
}
