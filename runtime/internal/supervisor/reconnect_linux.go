package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// restarts bounds how often in a row a supervisor is started that dies before
// it says anything.
const restarts = 3

// connect finds the supervisor or starts one. back says that this runtime has
// been connected before.
func (r *Runner) connect(ctx context.Context, back bool) (*client, error) {
	var err error
	for try := 0; try < restarts; try++ {
		var conn net.Conn
		if conn, err = r.reach(); err != nil {
			return nil, err
		}
		var c *client
		if c, err = greet(conn, r.hello(back)); err == nil {
			return r.admitted(c)
		}
		conn.Close()
		if !severed(err) {
			break
		}
		// One that was just leaving, or that never came up.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Errorf("cannot reach the supervisor: no answer in %s", startPatience)
	}
	return nil, fmt.Errorf("cannot reach the supervisor: %w (its log is %s)", err, logName)
}

// severed says whether the other side went away, as opposed to being wrong.
func severed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func (r *Runner) reach() (net.Conn, error) {
	conn, err := dial(r.o.Dir)
	if errors.Is(err, ErrNone) {
		return spawn(r.o.Dir, r.logf)
	}
	return conn, err
}

func (r *Runner) hello(back bool) hello {
	h := hello{
		Protocol: protocol, Build: build(), Role: roleRuntime, PID: os.Getpid(),
		Session: r.o.Session, Back: back, Containment: r.o.Containment,
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.procs {
		h.Known = append(h.Known, name)
	}
	return h
}

func (r *Runner) admitted(c *client) (*client, error) {
	w := c.welcome
	if w.Refused != "" {
		c.conn.Close()
		if w.Owner != 0 {
			return nil, &BusyError{w.Owner}
		}
		return nil, fmt.Errorf("the supervisor refuses: %s", w.Refused)
	}
	if w.Note != "" {
		r.logf("%s", w.Note)
	}
	if w.Build != build() {
		r.logf("the supervisor with process id %d is of build %s, this is %s: it is used until it has nothing left to do", w.PID, w.Build, build())
	}
	return c, nil
}

func (r *Runner) logf(format string, args ...any) {
	if r.o.Log != nil {
		r.o.Log(fmt.Sprintf(format, args...))
	}
}

// follow reads what the supervisor tells, and gets another one when it dies.
func (r *Runner) follow(c *client) {
	for c != nil {
		served := c
		r.ended.Go(func() { r.attend(served) })
		c.serve(r.heard)
		c = r.replace(c)
	}
}

// replace gets the next connection, or gives up for good.
func (r *Runner) replace(old *client) *client {
	r.mu.Lock()
	r.conn = nil
	closed := r.closed
	r.mu.Unlock()
	if closed {
		r.turn(nil, ErrLost)
		return nil
	}
	r.logf("the supervisor with process id %d is gone; another one takes its commands over", old.welcome.PID)
	ctx, cancel := context.WithTimeout(context.Background(), 2*startPatience)
	defer cancel()
	c, err := r.connect(ctx, true)
	if err != nil {
		r.logf("%v", err)
		r.turn(nil, fmt.Errorf("%w: %w", ErrLost, err))
		r.loseAll()
		return nil
	}
	r.turn(c, nil)
	return c
}

// turn makes c the connection, or err the reason why there is none, and tells
// those who wait.
func (r *Runner) turn(c *client, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c != nil && r.closed {
		c.conn.Close()
	}
	if c != nil {
		// Before anyone else can send on it.
		_ = c.send(message{Kind: kindTask, Task: r.task})
	}
	r.conn, r.broken = c, err
	close(r.turned)
	r.turned = make(chan struct{})
}

// loseAll ends the processes of which nobody can tell the end any more. What
// was demoted has its record, which outlives this.
func (r *Runner) loseAll() {
	r.mu.Lock()
	var lost []*remote
	for _, p := range r.procs {
		lost = append(lost, p)
	}
	r.mu.Unlock()
	for _, p := range lost {
		p.lose()
	}
}

// current is the connection, waited for if another one is being made.
func (r *Runner) current(ctx context.Context) (*client, error) { return r.after(ctx, nil) }

// after is a connection other than lost.
func (r *Runner) after(ctx context.Context, lost *client) (*client, error) {
	for {
		r.mu.Lock()
		c, broken, turned, closed := r.conn, r.broken, r.turned, r.closed
		r.mu.Unlock()
		switch {
		case closed:
			return nil, fmt.Errorf("%w: the runner is closed", ErrLost)
		case broken != nil:
			return nil, broken
		case c != nil && c != lost:
			return c, nil
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(4 * startPatience):
			return nil, fmt.Errorf("%w: no other one came", ErrLost)
		}
	}
}

// heard takes the end of a command.
func (r *Runner) heard(m message) {
	if m.Exit == nil || m.Output == nil {
		return
	}
	r.mu.Lock()
	p := r.procs[m.Name]
	r.mu.Unlock()
	if p != nil {
		p.end(*m.Exit, *m.Output)
		if p.onRecord() {
			r.forget(p.name)
		}
		return
	}
	if r.o.Missed != nil {
		r.o.Missed()
	}
}
