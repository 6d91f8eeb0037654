package supervisor

import "github.com/murmur-capsule/murmur/runtime/internal/shell"

// write appends a line to the journal.
func (s *server) write(e entry) error {
	s.jmu.Lock()
	defer s.jmu.Unlock()
	return s.journal.write(e)
}

// forgo notes in the journal that a launch needs no account any more, and that
// what it wrote can go then.
func (s *server) forgo(c *command) {
	m := c.ended()
	s.jmu.Lock()
	defer s.jmu.Unlock()
	if err := s.journal.putOff(entry{Step: stepSettled, Launch: m.Name}); err != nil {
		s.log("%v", err)
		return
	}
	s.forgone = append(s.forgone, *m.Output)
}

// clear writes down what was put off, and removes what nobody needs after that.
func (s *server) clear() {
	s.jmu.Lock()
	err := s.journal.flush()
	s.jmu.Unlock()
	if err != nil {
		s.log("%v", err)
	}
	s.discard()
}

// discard removes the captured output of settled commands, once the journal says
// that they are: one that a dead supervisor's journal does not, is told of again.
func (s *server) discard() {
	s.jmu.Lock()
	var outputs []shell.Output
	if len(s.journal.later) == 0 {
		outputs, s.forgone = s.forgone, nil
	}
	s.jmu.Unlock()
	for _, o := range outputs {
		if err := o.Remove(); err != nil {
			s.log("cannot remove captured output: %v", err)
		}
	}
}

// compact writes the journal anew when it has grown and little of it counts.
func (s *server) compact() {
	s.jmu.Lock()
	defer s.jmu.Unlock()
	if s.journal.size < compactAt {
		return
	}
	if err := s.rewriteJournal(); err != nil {
		s.log("%v", err)
	}
}

// rewriteJournal keeps what the living commands need. The journal's lock is
// held.
func (s *server) rewriteJournal() error {
	entries := append([]entry{s.opening()}, s.contained.entries()...)
	for _, c := range s.snapshot() {
		if !c.spent() {
			entries = append(entries, c.history()...)
		}
	}
	return s.journal.rewrite(entries)
}

func (c *command) history() []entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := launched{record: c.rec, streams: c.streams, spawned: c.rec.Identity.PID != 0, work: c.work, exit: c.exit, output: &c.output}
	return l.entries()
}

// closeBooks removes what tells of commands that nobody asks for any more.
func (s *server) closeBooks() error {
	s.jmu.Lock()
	err := s.journal.remove()
	s.journal.later = nil
	s.jmu.Unlock()
	s.discard()
	return err
}
