package supervisor

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// Operator is a connection by which a person's tools list and stop commands,
// beside the runtime or without one.
type Operator struct {
	client *client
	ended  sync.WaitGroup
}

var (
	_ jobs.Supervisor = (*Operator)(nil)
	_ jobs.Supervisor = (*Runner)(nil)
)

// Dial connects to the living supervisor of the session in dir. ErrNone says
// that there is none. ended, if set, is called whenever a demoted command has
// ended, its exit record being on disk; it must not block.
func Dial(dir string, ended func()) (*Operator, error) {
	conn, err := dial(dir)
	if err != nil {
		return nil, err
	}
	c, err := greet(conn, hello{Protocol: protocol, Build: build(), Role: roleOperator, PID: os.Getpid()})
	if err != nil {
		conn.Close()
		if severed(err) {
			return nil, ErrNone // It was just leaving.
		}
		return nil, fmt.Errorf("cannot reach the supervisor: %w", err)
	}
	if c.welcome.Refused != "" {
		conn.Close()
		return nil, fmt.Errorf("the supervisor refuses: %s", c.welcome.Refused)
	}
	o := &Operator{client: c}
	o.ended.Go(func() {
		c.serve(func(message) {
			if ended != nil {
				ended()
			}
		})
	})
	return o, nil
}

// PID is the supervisor's process id.
func (o *Operator) PID() int { return o.client.welcome.PID }

// Lost is closed when the supervisor has left or died.
func (o *Operator) Lost() <-chan struct{} { return o.client.lost }

// List is what the supervisor has: commands that run, in the foreground or
// demoted, and such as have ended and are not settled.
func (o *Operator) List(ctx context.Context) ([]Command, error) {
	reply, err := o.client.call(ctx, message{Kind: kindList})
	return reply.Commands, err
}

// Stop ends the launch, if it has the nonce or none is given, and returns once
// its end is known and, if it has a record, on disk.
func (o *Operator) Stop(ctx context.Context, launch, nonce string) error {
	_, err := o.client.call(ctx, message{Kind: kindStop, Name: launch, Nonce: nonce, Reason: shell.ReasonKilled})
	return err
}

// Close ends the connection.
func (o *Operator) Close() error {
	err := o.client.conn.Close()
	o.ended.Wait()
	return err
}
