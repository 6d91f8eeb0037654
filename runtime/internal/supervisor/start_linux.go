package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// start runs one command and says so. The answer goes before anybody watches,
// so that the runtime never hears of the end of a command before its start.
func (s *server) start(p *peer, task string, m message) {
	c, err := s.launch(task, m.Launch)
	if err != nil {
		s.answer(p, m.ID, err)
		return
	}
	fail(pointSpawned)
	s.noteContained()
	output := c.proc.Output()
	_ = p.send(message{
		Kind: kindDone, ID: m.ID, Started: c.proc.Started(), Output: &output, Containment: s.contained.tell(p),
	})
	go s.watch(c)
}

func (s *server) launch(task string, l *shell.Launch) (*command, error) {
	switch {
	case l == nil || !jobs.ValidLaunch(l.Name):
		return nil, errors.New("cannot start a command: its launch has no name that a file may have")
	case l.Task != task:
		return nil, fmt.Errorf("cannot start a command of task %q: the current task is %q", l.Task, task)
	}
	if err := s.contained.await(); err != nil {
		return nil, err
	}
	c := s.newCommand(*l)
	if err := s.enlist(c); err != nil {
		return nil, err
	}
	if err := s.spawn(c, *l); err != nil {
		s.mu.Lock()
		delete(s.commands, c.name())
		s.mu.Unlock()
		return nil, err
	}
	return c, nil
}

// newCommand notes down the launch as its record will have it. The nonce is
// made here and is never told to a command or a guest.
func (s *server) newCommand(l shell.Launch) *command {
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // Never fails, by its documentation.
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	return &command{done: make(chan struct{}), streams: streams{Dir: l.OutDir, Limit: l.MaxOutput}, rec: jobs.Record{
		Launch: l.Name, Nonce: hex.EncodeToString(nonce[:]),
		Session: session.ID, Capsule: session.Capsule, OwnerUID: session.OwnerUID, Workdir: session.Workdir,
		Task: l.Task, ContextID: l.ContextID, Origin: l.Origin, Trust: l.Trust,
		Binary: l.Path, Command: l.Text, LogPath: l.LogPath, MaxRuntimeMS: l.MaxRuntime.Milliseconds(),
	}}
}

// enlist takes the launch's name. A name is never used twice: it is the mark of
// the command's processes. A supervisor that is leaving answers nothing any
// more: the runtime sees it go, and asks the next one.
func (s *server) enlist(c *command) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		s.mu.Unlock()
		select {}
	}
	if s.commands[c.name()] != nil {
		return fmt.Errorf("cannot start %s twice", c.name())
	}
	s.commands[c.name()] = c
	return nil
}

// spawn forks between two lines of the journal. Where either cannot be written
// nothing runs that nobody could account for.
func (s *server) spawn(c *command, l shell.Launch) error {
	fail(pointLaunching)
	if err := s.write(entry{Step: stepLaunched, Launch: l.Name, Record: &c.rec, Streams: &c.streams}); err != nil {
		return err
	}
	fail(pointLaunched)
	proc, err := s.runner.Start(context.Background(), l)
	if err != nil {
		return errors.Join(err, s.write(entry{Step: stepNotSpawned, Launch: l.Name}))
	}
	fail(pointForked)
	own, ok := proc.(process)
	if !ok {
		return errors.New("internal error: the runner does not identify its processes")
	}
	if err = s.write(c.spawned(own)); err != nil {
		return errors.Join(err, own.Stop(context.Background(), shell.ReasonKilled))
	}
	return nil
}

// spawned takes down which process the command is, and is the line that tells it.
func (c *command) spawned(p process) entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proc = p
	c.rec.Identity = jobs.Identity(p.Identity())
	c.rec.StartedAt = p.Started().UnixMilli()
	c.streams.Pipes = p.Pipes()
	child, streams := c.rec.Identity, c.streams
	return entry{Step: stepSpawned, Launch: c.name(), Child: &child, StartedAt: c.rec.StartedAt, Streams: &streams}
}

// demote makes a command durable, or ends it.
func (s *server) demote(m message) error {
	c, err := s.find(m.Name)
	if err != nil {
		// Asked again by a runtime whose first supervisor died of the answer, and
		// ended and dealt with since.
		if s.store.Accounts(m.Work, m.Name) {
			return nil
		}
		return err
	}
	if err := c.demote(s, m.Work, false); err != nil {
		return errors.Join(err, s.abandon(c))
	}
	s.forgetSpent(c)
	return nil
}

// abandon ends a command that cannot be accounted for. It is forgotten only if
// it is proven dead: what could not be ended is still known to the journal.
func (s *server) abandon(c *command) error {
	var err error
	if p, _ := c.process(); p != nil {
		err = p.Stop(context.Background(), shell.ReasonKilled)
	}
	<-c.done
	if err == nil && len(c.ended().Exit.Survivors) == 0 {
		s.settle(c)
	}
	return err
}

// stop ends a command and returns once its end is known and, if it has a
// record, on disk.
func (s *server) stop(m message) error {
	c, err := s.find(m.Name)
	if err != nil {
		return err
	}
	if m.Nonce != "" && m.Nonce != c.rec.Nonce {
		return fmt.Errorf("%w: %q", ErrUnknown, m.Name)
	}
	p, over := c.process()
	switch {
	case p != nil:
		err = p.Stop(context.Background(), m.Reason)
	case !over:
		return fmt.Errorf("cannot stop %s: it is just being started", m.Name)
	}
	<-c.done
	return err
}

func (s *server) list() []Command {
	var list []Command
	for _, c := range s.snapshot() {
		list = append(list, c.describe())
	}
	return list
}
