package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// server is a supervisor at work.
type server struct {
	dir    string
	store  *jobs.Store
	runner *shell.InProcess
	log    func(format string, args ...any)

	jmu     sync.Mutex
	journal *journal
	// forgone are the captured streams of settled commands.
	forgone []shell.Output

	contained contained

	mu       sync.Mutex
	session  Session
	commands map[string]*command
	// past are the ends of commands that a dead supervisor was through with. Its
	// runtime may not have heard of the last of them.
	past map[string]message
	// note is for the operator, by way of the first runtime that connects.
	note    string
	peers   map[*peer]bool
	runtime *peer
	// leaving is closed once the supervisor has nothing left to do.
	leaving chan struct{}
	left    bool
	// asked says that a signal asked the supervisor to leave when idle.
	asked bool
}

// insist repeats what must succeed for c, with growing pauses, until it does: a
// full disk is emptied one day. Where the session's directory has been removed
// there is nobody left to account to, and the command is given up.
func (s *server) insist(c *command, what string, f func() error) {
	said := ""
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := f()
		if err == nil {
			return
		}
		if _, gone := os.Lstat(s.dir); errors.Is(gone, fs.ErrNotExist) {
			c.giveUp()
			return
		}
		if said != err.Error() { // A log on a full disk is no place to go on about it.
			said = err.Error()
			s.log("cannot %s %s, trying again: %v", what, c.name(), err)
		}
		time.Sleep(wait)
	}
}

// orphan demotes a command whose runtime is gone, under an id of its own. If
// that fails it goes on trying, without holding up anyone: the journal has the
// launch, but a journal does not survive the machine.
func (s *server) orphan(c *command) {
	work, owed := c.orphanID()
	if !owed {
		return
	}
	try := func() error { return c.demote(s, work, true) }
	if err := try(); err == nil {
		s.forgetSpent(c)
		return
	}
	go func() {
		s.insist(c, "record", try)
		s.forgetSpent(c)
		s.leaveIfIdle()
	}()
}

// accept serves whoever connects until the listener is closed.
func (s *server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.log("cannot accept a connection: %v", err)
			time.Sleep(50 * time.Millisecond) // Out of descriptors, say.
			continue
		}
		go s.serve(s.admit(c))
	}
}

// admit counts a connection. It is done before anything is read from it: a
// supervisor does not leave with a peer in the door.
func (s *server) admit(c net.Conn) *peer {
	p := newPeer(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peers[p] = true
	return p
}

func (s *server) serve(p *peer) {
	if err := s.converse(p); err != nil {
		s.log("peer %d: %v", p.pid, err)
	}
	s.dismiss(p)
}

// dismiss deals with what a peer leaves behind. For the runtime these are all
// the commands that it did not settle: they have lost the one who waits for
// them, and get their records now.
func (s *server) dismiss(p *peer) {
	// The peer first: a runtime that was sent away sees the end of the
	// connection, one that is gone does not mind.
	p.conn.Close()
	p.working.Wait()
	if p.role == roleRuntime {
		s.orphanAll()
	}
	s.mu.Lock()
	delete(s.peers, p)
	if s.runtime == p {
		s.runtime = nil
	}
	s.mu.Unlock()
	close(p.gone)
	s.leaveIfIdle()
}

func (s *server) orphanAll() {
	for _, c := range s.snapshot() {
		s.orphan(c)
	}
}

func (s *server) snapshot() []*command {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*command, 0, len(s.commands))
	for _, c := range s.commands {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *command) int { return strings.Compare(a.name(), b.name()) })
	return list
}

func (s *server) find(name string) (*command, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.commands[name]
	if c == nil {
		return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	return c, nil
}

// enter makes the runtime's connection the only one of its kind. A runtime that
// has hung up is waited out, until its commands have their records.
func (s *server) enter(p *peer) *welcome {
	for {
		s.mu.Lock()
		other := s.runtime
		if other == nil {
			s.runtime = p
			s.mu.Unlock()
			return &welcome{}
		}
		s.mu.Unlock()
		if !hungUp(other.conn) {
			return &welcome{Refused: (&BusyError{other.pid}).Error(), Owner: other.pid}
		}
		<-other.gone
	}
}

// welcome lets a peer in.
func (s *server) welcome(p *peer, w *welcome) error {
	s.mu.Lock()
	err := p.queue(message{Kind: kindWelcome, Welcome: w})
	p.greeted = w.Refused == ""
	s.mu.Unlock()
	return errors.Join(err, p.drain())
}

// watch follows a command to its end and tells those who wait for it.
func (s *server) watch(c *command) {
	<-c.proc.Ended()
	c.end(s, c.proc.Exit(), c.proc.Output())
	s.announce(c)
	s.forgetSpent(c)
	s.discard()
	s.leaveIfIdle()
}

// announce tells the runtime of an end, and the operators of one that is on
// disk.
func (s *server) announce(c *command) {
	m, demoted := c.ended(), c.demoted()
	s.mu.Lock()
	var to []*peer
	for p := range s.peers {
		if p.greeted && (p == s.runtime || demoted && p.role == roleOperator) {
			to = append(to, p)
		}
	}
	s.mu.Unlock()
	for _, p := range to {
		_ = p.send(m) // One that is gone needs no telling.
	}
}

// forgetSpent drops a command that nobody can ask for any more.
func (s *server) forgetSpent(c *command) {
	if !c.spent() {
		return
	}
	s.mu.Lock()
	delete(s.commands, c.name())
	s.mu.Unlock()
	s.compact()
}

// leaveIfIdle ends the supervisor when nothing runs, nothing is owed, and
// nobody is connected, or only someone who does not matter once it was asked to
// leave.
func (s *server) leaveIfIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left || len(s.commands) > 0 || len(s.peers) > 0 && !s.asked {
		return
	}
	s.left = true
	close(s.leaving)
}

// askToLeave is what a signal does: the supervisor goes as soon as nothing
// runs, whoever is connected. It ends no command; whoever sent the signal to
// the commands as well gets their ends recorded.
func (s *server) askToLeave(sig os.Signal) {
	s.log("%v: leaving when nothing runs", sig)
	s.mu.Lock()
	s.asked = true
	s.mu.Unlock()
	s.leaveIfIdle()
}
