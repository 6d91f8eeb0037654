package supervisor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/unixsock"
)

// helloPatience is how long a peer may take to say who it is.
const helloPatience = 10 * time.Second

// converse serves one connection until it ends. An end between two frames is
// none of an error.
func (s *server) converse(p *peer) error {
	if err := unixsock.CheckPeer(p.conn); err != nil {
		return err
	}
	in := bufio.NewReader(p.conn)
	if err := s.greet(p, in); err != nil {
		return err
	}
	for {
		var m message
		err := readFrame(in, &m)
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			return nil
		}
		if err != nil {
			return err
		}
		s.handle(p, m)
	}
}

func (s *server) greet(p *peer, in io.Reader) error {
	if err := p.conn.SetReadDeadline(time.Now().Add(helloPatience)); err != nil {
		return err
	}
	var m message
	if err := readFrame(in, &m); err != nil {
		return fmt.Errorf("no hello: %w", err)
	}
	if m.Kind != kindHello || m.Hello == nil {
		return fmt.Errorf("no hello but %q", m.Kind)
	}
	if err := p.conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	w := s.receive(p, *m.Hello)
	if p.role == roleRuntime {
		s.resume(*m.Hello)
	}
	w.Protocol, w.Build, w.PID = protocol, build(), os.Getpid()
	if p.role == roleRuntime {
		w.Note = s.takeNote()
	}
	if err := s.welcome(p, w); err != nil {
		return err
	}
	if w.Refused != "" {
		return errors.New(w.Refused)
	}
	s.catchUp(p, m.Hello.Known)
	return nil
}

func (s *server) takeNote() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	note := s.note
	s.note = ""
	return note
}

// receive decides on a hello. A peer of another version that starts commands is
// served as well: what it sends and does not know is left out of its frames.
func (s *server) receive(p *peer, h hello) *welcome {
	p.pid = h.PID
	switch h.Role {
	case roleOperator:
		p.role = roleOperator
		return &welcome{}
	case roleRuntime:
		w := s.enter(p)
		if w.Refused == "" {
			p.role = roleRuntime
			s.contain(h.Containment)
			s.mu.Lock()
			s.session = h.Session
			s.mu.Unlock()
		}
		return w
	default:
		return &welcome{Refused: fmt.Sprintf("unknown role %q", h.Role)}
	}
}

// resume sorts what is there between a runtime that comes back and a new one,
// before either is welcome: a new one finds the records of all that it is owed.
func (s *server) resume(h hello) {
	for _, c := range s.snapshot() {
		switch {
		case slices.Contains(h.Known, c.name()):
		case h.Back:
			s.settle(c)
		default:
			s.orphan(c)
		}
	}
}

// catchUp tells a runtime how everything ended that it still waits for.
func (s *server) catchUp(p *peer, known []string) {
	for _, name := range known {
		c, err := s.find(name)
		if err != nil {
			_ = p.send(s.pastEnd(name))
		} else if c.over() {
			_ = p.send(c.ended())
		}
	}
}

// pastEnd is the end of a launch that no living supervisor has. One that the
// journal does not know was never begun, or is lost with the journal.
func (s *server) pastEnd(name string) message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.past[name]; ok {
		return m
	}
	return message{
		Kind: kindEnded, Name: name, Output: &shell.Output{},
		Exit: &shell.Exit{Code: -1, Reason: shell.ReasonDied, WaitErr: "the supervisor does not know of it"},
	}
}

// handle deals with one request. What may take long is done beside the
// conversation; the order of a command's own messages is kept by the runtime,
// which waits for each answer.
func (s *server) handle(p *peer, m message) {
	if p.role != roleRuntime && m.Kind != kindStop && m.Kind != kindList {
		_ = p.send(message{Kind: kindDone, ID: m.ID, Error: toWire(errors.New("only the runtime may do this"))})
		return
	}
	switch m.Kind {
	case kindTask:
		s.turn(p, m.Task)
	case kindSettle:
		if c, err := s.find(m.Name); err == nil {
			s.settle(c)
		}
	case kindStart:
		task := p.task
		p.working.Go(func() { s.start(p, task, m) })
	case kindContained:
		p.working.Go(func() { s.answer(p, m.ID, s.contained.await()) })
	case kindDemote:
		p.working.Go(func() { s.answer(p, m.ID, s.demote(m)) })
	case kindStop:
		// Not waited for when the peer goes: it may take as long as the command
		// takes to die, and a stop that was begun is finished all the same.
		go func() { s.answer(p, m.ID, s.stop(m)) }()
	case kindList:
		if err := p.send(message{Kind: kindDone, ID: m.ID, Commands: s.list()}); errors.Is(err, errFrameSize) {
			s.answer(p, m.ID, err)
		}
	default:
		s.answer(p, m.ID, fmt.Errorf("unknown request %q", m.Kind))
	}
}

func (s *server) answer(p *peer, id uint64, err error) {
	_ = p.send(message{Kind: kindDone, ID: id, Error: toWire(err)})
}

// turn begins a task. What ended in the one before is settled: its guest is
// through with it.
func (s *server) turn(p *peer, task string) {
	old := p.task
	p.task = task
	if old == task {
		return
	}
	for _, c := range s.snapshot() {
		if c.rec.Task == old {
			s.settle(c)
		}
	}
	p.working.Go(s.clear)
}

// settle forgets a command that ended in the foreground.
func (s *server) settle(c *command) {
	if !c.drop() {
		return
	}
	s.forgo(c)
	s.forgetSpent(c)
}
