package supervisor

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// client is one connection to a supervisor, after its welcome.
type client struct {
	link
	welcome welcome
	in      *bufio.Reader
	// lost is closed when the connection has ended.
	lost chan struct{}

	cmu   sync.Mutex
	next  uint64
	calls map[uint64]chan message
}

// greet says hello on a new connection and takes the welcome.
func greet(conn net.Conn, h hello) (*client, error) {
	c := &client{link: link{conn: conn}, in: bufio.NewReader(conn), lost: make(chan struct{}), calls: map[uint64]chan message{}}
	if err := conn.SetDeadline(time.Now().Add(startPatience)); err != nil {
		return nil, err
	}
	if err := c.link.send(message{Kind: kindHello, Hello: &h}); err != nil {
		return nil, err
	}
	var m message
	if err := readFrame(c.in, &m); err != nil {
		return nil, err
	}
	if m.Kind != kindWelcome || m.Welcome == nil {
		return nil, ErrLost
	}
	c.welcome = *m.Welcome
	return c, conn.SetDeadline(time.Time{})
}

// send sends a message that is not answered. One that is too large is no fault
// of the connection's.
func (c *client) send(m message) error {
	err := c.link.send(m)
	if err == nil || errors.Is(err, errFrameSize) {
		return err
	}
	select {
	case <-c.lost:
	default:
		c.conn.Close() // The reader finds out and tells everyone.
	}
	return ErrLost
}

// call sends a request and waits for its answer. ErrLost says that the
// connection ended first: whether the request was dealt with is not known.
func (c *client) call(ctx context.Context, m message) (message, error) {
	answer := make(chan message, 1)
	c.cmu.Lock()
	c.next++
	m.ID = c.next
	c.calls[m.ID] = answer
	c.cmu.Unlock()
	defer func() {
		c.cmu.Lock()
		delete(c.calls, m.ID)
		c.cmu.Unlock()
	}()
	if err := c.send(m); err != nil {
		return message{}, err
	}
	select {
	case reply := <-answer:
		return reply, reply.Error.err()
	case <-ctx.Done():
		return message{}, ctx.Err()
	case <-c.lost:
		return message{}, ErrLost
	}
}

// serve reads until the connection ends. ended gets every end of a command.
func (c *client) serve(ended func(message)) {
	defer close(c.lost)
	defer c.conn.Close()
	for {
		var m message
		if err := readFrame(c.in, &m); err != nil {
			return
		}
		switch m.Kind {
		case kindDone:
			c.deliver(m)
		case kindEnded:
			ended(m)
		}
	}
}

func (c *client) deliver(m message) {
	c.cmu.Lock()
	defer c.cmu.Unlock()
	if answer := c.calls[m.ID]; answer != nil {
		delete(c.calls, m.ID)
		answer <- m
	}
}
