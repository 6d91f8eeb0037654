package supervisor

import (
	"net"
	"sync"
	"sync/atomic"
)

// link sends frames on a connection without ever making one sender wait for
// another: whoever comes first writes, the others leave their frames with it. A
// peer that reads nothing costs memory and one goroutine, and holds nobody up.
type link struct {
	conn net.Conn

	mu      sync.Mutex
	pending []byte
	writing bool
	err     error
}

// send queues m, and writes if nobody does. An error means that the connection
// is gone or that m is no message that can be sent.
func (l *link) send(m message) error {
	if err := l.queue(m); err != nil {
		return err
	}
	return l.drain()
}

// queue leaves m to whoever drains next. What is queued first is sent first.
func (l *link) queue(m message) error {
	frame, err := appendFrame(m)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.pending = append(l.pending, frame...)
	}
	return l.err
}

// drain writes what is queued, unless somebody is at it.
func (l *link) drain() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writing {
		return nil
	}
	l.writing = true
	for len(l.pending) > 0 && l.err == nil {
		l.flush()
	}
	l.writing = false
	return l.err
}

// flush writes what is pending, with the lock released meanwhile.
func (l *link) flush() {
	batch := l.pending
	l.pending = nil
	l.mu.Unlock()
	_, err := l.conn.Write(batch)
	l.mu.Lock()
	if err != nil {
		l.err = err
		l.pending = nil
	}
}

// peer is a connection as the supervisor sees it.
type peer struct {
	link
	role Role
	pid  int
	// greeted says that the welcome is on its way: nothing may come before it,
	// and nothing that happens from then on is withheld.
	greeted bool
	// task is the one whose commands are accepted. Only the connection's reader
	// touches it.
	task string
	// toldContainment says that the peer knows what is enforced.
	toldContainment atomic.Bool
	// working counts requests that are being dealt with.
	working sync.WaitGroup
	// gone is closed when everything that the peer left behind is dealt with.
	gone chan struct{}
}

func newPeer(c net.Conn) *peer {
	return &peer{link: link{conn: c}, gone: make(chan struct{})}
}
