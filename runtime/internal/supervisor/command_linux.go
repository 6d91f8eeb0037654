package supervisor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// process is a command that runs: one that was started here, or one that a dead
// supervisor left.
type process interface {
	Ended() <-chan struct{}
	Exit() shell.Exit
	Started() time.Time
	Output() shell.Output
	Stop(ctx context.Context, why shell.Reason) error
	Identity() proctree.Identity
	Pipes() [2]uint64
}

// command is a launch from its journal line to the moment when nobody can miss
// it any more.
type command struct {
	// rec is the durable record, as far as it is known, without a work id.
	rec     jobs.Record
	streams streams
	// proc is nil for a command whose end the journal tells.
	proc process
	// done is closed when the end is known and, for a demoted command, on disk.
	done chan struct{}

	// recording is held by whoever writes the command's records. The journal's
	// lock may be waited for with it, and never with mu: who rewrites the journal
	// has that lock and asks every command for its history.
	recording sync.Mutex

	mu sync.Mutex
	// work is the id under which the command is, or is being, recorded.
	work     string
	recorded bool
	exit     *shell.Exit
	output   shell.Output
	// saved says that the exit record is on disk.
	saved   bool
	settled bool
}

func (c *command) name() string { return c.rec.Launch }

// spent says whether nobody needs the command any more.
func (c *command) spent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exit != nil && (c.settled || c.saved)
}

// demote gives the command its record, and its exit record if it has ended. It
// may be called again with the same id.
func (c *command) demote(s *server, work string, implicit bool) error {
	fail(pointDemoting)
	if err := c.record(s, work, implicit); err != nil {
		return err
	}
	fail(pointRecorded)
	s.insist(c, "write the exit record of", func() error { return c.save(s) })
	return nil
}

func (c *command) record(s *server, work string, implicit bool) error {
	c.recording.Lock()
	defer c.recording.Unlock()
	r, owed, err := c.promise(work)
	if err != nil || !owed {
		return err
	}
	if err := s.write(entry{Step: stepDemoted, Launch: c.name(), Work: work}); err != nil {
		c.takeBack()
		return err
	}
	r.WorkID, r.Implicit, r.DemotedAt = work, implicit, time.Now().UnixMilli()
	r.Receipt = s.contained.receipt()
	// One that is there already was written by a supervisor that died of it.
	if _, err := s.store.Create(r); err != nil && !errors.Is(err, jobs.ErrExists) {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recorded = true
	return nil
}

// promise gives the command its id, before the journal has it: a journal that is
// rewritten meanwhile must not lose it. The record is to be completed and written
// if it is still owed.
func (c *command) promise(work string) (r jobs.Record, owed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.work != "" && c.work != work:
		return r, false, fmt.Errorf("cannot demote %s twice", c.name())
	case c.recorded:
		return r, false, nil
	case c.settled:
		return r, false, fmt.Errorf("%w: %s is settled", ErrUnknown, c.name())
	}
	c.work = work
	r = c.rec
	r.Output = toOutput(c.output)
	if c.proc != nil {
		r.Output = toOutput(c.proc.Output())
	}
	return r, true, nil
}

func (c *command) takeBack() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = ""
}

// save writes the exit record of a command that has a record and has ended.
func (c *command) save(s *server) error {
	c.recording.Lock()
	defer c.recording.Unlock()
	e, owed := c.exitRecord()
	if !owed {
		return nil
	}
	if err := s.store.WriteExit(e); err != nil {
		return err
	}
	c.mu.Lock()
	c.saved = true
	c.mu.Unlock()
	// The record may be pruned while this journal lives: it must not be made
	// again from it.
	if err := s.write(entry{Step: stepSettled, Launch: c.name()}); err != nil {
		s.log("%v", err)
	}
	return nil
}

// orphanID is the id under which a command that lost its runtime is recorded;
// false if nobody is owed its end.
func (c *command) orphanID() (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work == "" {
		return ids.Work.New(), !c.settled
	}
	return c.work, !c.settled
}

// end takes down how the command ended.
func (c *command) end(s *server, exit shell.Exit, output shell.Output) {
	fail(pointEnded)
	c.mu.Lock()
	c.exit, c.output = &exit, output
	c.mu.Unlock()
	// After that: a journal that is rewritten meanwhile has the end as well.
	if err := s.write(endedEntry(c.name(), exit, output)); err != nil {
		s.log("%v", err)
	}
	s.insist(c, "write the exit record of", func() error { return c.save(s) })
	fail(pointExitRecorded)
	close(c.done)
}

// drop forgets a command that ended in the foreground; false if it has not, or
// is not the runtime's to forget.
func (c *command) drop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.settled || c.recorded || c.exit == nil {
		return false
	}
	c.settled = true
	return true
}

// giveUp forgets a command, whatever it still owes.
func (c *command) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = true
}

// over says whether the end is known.
func (c *command) over() bool {
	_, over := c.process()
	return over
}

// process is what runs as the command, nil if nothing does or did, and whether
// its end is known.
func (c *command) process() (p process, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.proc, c.exit != nil
}

// exitRecord is the supervisor's word on the end, if it is still to be written.
func (c *command) exitRecord() (e jobs.ExitRecord, owed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.recorded || c.exit == nil || c.saved {
		return e, false
	}
	return jobs.ExitRecord{
		WorkID: c.work, Launch: c.rec.Launch, Nonce: c.rec.Nonce, Identity: c.rec.Identity,
		Outcome: toOutcome(*c.exit, c.rec.StartedAt),
		Output: jobs.OutputCount{
			StdoutBytes: c.output.StdoutBytes, StderrBytes: c.output.StderrBytes, Truncated: c.output.Truncated,
		},
	}, true
}

// demoted says whether the command has a record, so that its end concerns
// others than the runtime that started it.
func (c *command) demoted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recorded
}

// ended is the message that tells the end.
func (c *command) ended() message {
	c.mu.Lock()
	defer c.mu.Unlock()
	exit, output := *c.exit, c.output
	return message{Kind: kindEnded, Name: c.name(), Exit: &exit, Output: &output}
}

func (c *command) describe() Command {
	c.mu.Lock()
	defer c.mu.Unlock()
	output := c.output
	if c.proc != nil && c.exit == nil {
		output = c.proc.Output()
	}
	return Command{
		Launch: c.name(), Work: c.work, Text: shell.Shown(c.rec.Command), Identity: c.rec.Identity,
		Started: time.UnixMilli(c.rec.StartedAt), Output: &output, Ended: c.exit != nil,
	}
}
