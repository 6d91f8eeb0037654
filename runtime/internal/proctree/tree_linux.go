package proctree

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How long a teardown waits, first for processes that were asked to end and
// then for the kernel to end them.
const (
	termPatience = 2 * time.Second
	killPatience = 2 * time.Second
)

// A Tree is all processes of one command: the members of its leader's session,
// the processes that bear its mark or are in its group, and the descendants of
// all of them.
type Tree struct {
	Leader Identity
	Mark   string

	held *Leader // where this process started it
}

// Tree returns the processes of the leader's command.
func (l *Leader) Tree() Tree { return Tree{l.Identity, l.Mark, l} }

// holds reports whether the leader's number is known to mean its session, though
// the leader may have exited.
func (t Tree) holds() bool { return t.held != nil && !t.held.released.Load() }

// Members returns what of the tree is alive. Those of the session count only
// while the leader is provably the one meant: a number of a leader that is gone
// proves nothing about who uses it. The rest of such a session is returned as
// unproven; it is to be reported and never to be signalled.
func (t Tree) Members() (members, unproven []Proc, err error) {
	seen, err := scans.scan()
	if err != nil {
		return nil, nil, err
	}
	ours := t.ownsSession(seen)
	in := map[int]bool{}
	group := t.held.group()
	for _, p := range seen.procs {
		switch {
		case !t.eligible(p):
		case p.SID == t.Leader.PID && ours, slices.Contains(group, p.PID), t.Mark != "" && seen.mark(p).value == t.Mark:
			in[p.PID] = true
		case p.SID == t.Leader.PID:
			unproven = append(unproven, p)
		}
	}
	t.addDescendants(seen, in)
	for _, p := range seen.procs {
		if in[p.PID] {
			members = append(members, p)
		}
	}
	return members, without(unproven, in), nil
}

// ownsSession reports whether the session that has the leader's pid is the
// leader's.
func (t Tree) ownsSession(seen *table) bool {
	for _, p := range seen.procs {
		if p.PID != t.Leader.PID {
			continue
		}
		if p.StartTime != t.Leader.StartTime {
			return false
		}
		return t.holds() || Verify(t.Leader) == Owned
	}
	return t.holds()
}

// eligible reports whether p may be of the tree at all.
func (t Tree) eligible(p Proc) bool {
	return p.PID > 1 && p.PID != os.Getpid() && !p.Zombie &&
		p.BootID == t.Leader.BootID && p.StartTime >= t.Leader.StartTime
}

// addDescendants adds to in the children of those that are in it, and theirs.
func (t Tree) addDescendants(seen *table, in map[int]bool) {
	for grown := len(in) > 0; grown; {
		grown = false
		for _, p := range seen.procs {
			if in[p.PPID] && !in[p.PID] && t.eligible(p) {
				in[p.PID], grown = true, true
			}
		}
	}
}

func without(procs []Proc, in map[int]bool) []Proc {
	var rest []Proc
	for _, p := range procs {
		if !in[p.PID] {
			rest = append(rest, p)
		}
	}
	return rest
}

// An Outcome is what a teardown did.
type Outcome struct {
	// Signalled counts the processes that a signal was sent to.
	Signalled int
	// Survivors could not be proven dead, or not be proven to be of the tree.
	Survivors []Proc
}

// Teardown ends the tree: it asks all of it to terminate, gives it two seconds,
// proves again who is who, kills what is left, and looks whether that worked. An
// error means that it could not be looked; survivors are no error.
func (t Tree) Teardown(ctx context.Context) (Outcome, error) {
	d := teardown{tree: t, signalled: map[Identity]bool{}}
	err := d.until(ctx, termPatience, d.ask)
	if err == nil {
		// The leader's group is killed even if nothing is seen any more: it is
		// all that catches processes which fork and exit without end.
		d.killGroup()
		err = d.until(ctx, killPatience, d.kill)
	}
	members, unproven, lerr := t.Members()
	return Outcome{len(d.signalled), append(members, unproven...)}, errors.Join(err, lerr)
}

type teardown struct {
	tree      Tree
	signalled map[Identity]bool
}

// until deals with the tree's members until two looks in a row show none, for a
// process that forks and exits can be overlooked by one, or until its time is
// up.
func (d *teardown) until(ctx context.Context, patience time.Duration, deal func([]Proc)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for none := 0; none < 2 && ctx.Err() == nil; {
		members, _, err := d.tree.Members()
		if err != nil {
			return err
		}
		if len(members) == 0 {
			none++
			continue
		}
		none = 0
		deal(members)
		if err := allGone(ctx, members); err != nil {
			return err
		}
	}
	return nil
}

// allGone waits until all of procs have exited, or ctx ends.
func allGone(ctx context.Context, procs []Proc) error {
	for _, p := range procs {
		if err := waitGone(ctx, p.process()); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// ask asks each member once. A stopped process can act on it only if it goes on.
func (d *teardown) ask(members []Proc) {
	for _, p := range members {
		if !d.signalled[p.process()] {
			d.signal(p.process(), unix.SIGTERM, unix.SIGCONT)
		}
	}
}

func (d *teardown) kill(members []Proc) {
	d.killGroup()
	for _, p := range members {
		d.signal(p.process(), unix.SIGKILL)
	}
}

// killGroup kills the leader's group, which is known to be its own only while
// the leader is held.
func (d *teardown) killGroup() {
	if d.tree.holds() {
		d.tree.held.handle.signalGroup(unix.SIGKILL)
	}
}

// signal signals the process that id names, if it is still that one.
func (d *teardown) signal(id Identity, signals ...syscall.Signal) {
	h, err := Open(id)
	if err != nil {
		return
	}
	defer h.Close()
	for _, sig := range signals {
		if sent, _ := h.signal(sig, 0); sent {
			d.signalled[id] = true
		}
	}
}
