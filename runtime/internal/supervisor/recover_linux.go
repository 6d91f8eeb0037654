package supervisor

import (
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// recover takes over what the journal of a dead supervisor tells of: commands
// that live are adopted, those that have gone are at an end, of which nobody
// knows how. The runtime's hello decides later whom each belongs to.
func (s *server) recover() {
	a, err := readJournal(s.dir)
	if err != nil {
		s.log("%v", err)
	}
	if a.bad > 0 {
		s.log("the journal has %d unreadable lines", a.bad)
	}
	if n := a.owed(); n > 0 && a.service != "" {
		s.note = killedWith(a.service, n)
	}
	s.contained.recover(a.receipt)
	for _, l := range a.launches {
		if !l.settled {
			s.takeOver(l)
		} else if l.exit != nil {
			s.remember(l)
		}
	}
	s.jmu.Lock()
	defer s.jmu.Unlock()
	if s.journal.size == 0 {
		if err := s.journal.write(s.opening()); err != nil {
			s.log("%v", err)
		}
		return
	}
	// Only now: up to here the old journal is the only account of its commands.
	if err := s.rewriteJournal(); err != nil {
		s.log("%v", err)
		_ = s.journal.write(s.opening())
	}
}

// remember keeps the end of a launch that a dead supervisor was through with. Of
// one without a record nobody reads the output any more.
func (s *server) remember(l *launched) {
	s.past[l.record.Launch] = message{Kind: kindEnded, Name: l.record.Launch, Exit: l.exit, Output: l.output}
	if l.work == "" {
		s.forgone = append(s.forgone, *l.output)
	}
}

func (s *server) takeOver(l *launched) {
	c := &command{rec: l.record, streams: l.streams, work: l.work, done: make(chan struct{})}
	if l.exit == nil && !l.spawned {
		// Forked or not? Its mark tells, as long as something of it lives.
		if id, ok := awaitLeader(c.rec.Launch); ok {
			c.rec.Identity, c.rec.StartedAt = jobs.Identity(id), time.Now().UnixMilli()
			l.spawned = true
		}
	}
	s.mu.Lock()
	s.commands[c.name()] = c
	s.mu.Unlock()
	if l.exit == nil && l.spawned {
		c.proc = adopt(c.rec, c.streams)
	}
	switch {
	case l.exit != nil:
		c.output = *l.output
		s.finish(c, *l.exit)
	case c.proc == nil:
		s.finish(c, shell.Exit{Code: -1, Reason: shell.ReasonDied})
	}
	if c.work != "" {
		// The record comes before the watch: what was demoted is owed on disk.
		s.orphan(c)
	}
	if c.proc != nil {
		go s.watch(c)
	}
}

// finish sets the end of a command that has ended before this supervisor began.
func (s *server) finish(c *command, exit shell.Exit) {
	c.exit = &exit
	close(c.done)
}

// awaitLeader looks for the leader of a launch that was forked perhaps. Between
// its fork and its exec a process bears no mark yet, so one look is not enough.
func awaitLeader(mark string) (proctree.Identity, bool) {
	for range 4 {
		if id, ok := markedLeader(mark); ok {
			return id, true
		}
		time.Sleep(25 * time.Millisecond)
	}
	return proctree.Identity{}, false
}
