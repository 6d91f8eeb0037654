package proctree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A short command is one whose descendants are looked for among the pids given
// out since its own. The time is far too short for the kernel to have given out
// all numbers there are and to have begun again.
const (
	shortPIDs = 256
	shortTime = 50 * time.Millisecond
)

// The longest times between two looks: for a process that hides, and at one
// that may leave its session.
const (
	maxPause = 100 * time.Millisecond
	maxLeave = time.Second
)

// What has left the session is watched for a moment before it is named, for a
// daemon often forks once more, and its parent exits.
const (
	leftTime  = 20 * time.Millisecond
	leftLooks = 5
	youngTime = time.Second
)

// tick is the unit of start times: USER_HZ is 100 on every Linux that Go has.
const tick = 10 * time.Millisecond

// A Leader is the first process of a session that was started here.
type Leader struct {
	Identity
	// Mark is the value of [MarkVar] in the environment of the leader.
	Mark string
	// Group, if it is set before Wait is called, lists the processes that the
	// kernel keeps together with the leader: what has cleared its environment is
	// found all the same.
	Group func() []int

	handle    *Handle
	reaper    collector
	collected *collected // by a subreaper
	spawned   time.Time
	released  atomic.Bool // its number may be another's by now
}

// newLeader takes over what was forked. A process that cannot be told from
// others could be neither waited for nor stopped: it is ended at once.
func newLeader(f Forked, mark string, c collector) (*Leader, error) {
	h, err := hold(f)
	if err != nil {
		// The child is not reaped yet, so the number is still its own.
		unix.Kill(f.PID, unix.SIGKILL)
		unix.Wait4(f.PID, nil, 0, nil)
		return nil, fmt.Errorf("cannot hold on to the process: %w", err)
	}
	return &Leader{Identity: h.id, Mark: mark, handle: h, reaper: c, spawned: time.Now()}, nil
}

func hold(f Forked) (*Handle, error) {
	id, err := Capture(f.PID)
	if err != nil {
		unix.Close(f.PIDFD)
		return nil, err
	}
	return newHandle(id, f.PIDFD)
}

// An End is how a session ended.
type End struct {
	// Status is the leader's.
	Status syscall.WaitStatus
	// CPU is the processor time that the leader used, and the processes that it
	// waited for.
	CPU time.Duration
	// Left are processes with the leader's mark that live on in sessions of
	// their own.
	Left []Proc
}

// Wait returns once no process of the leader's session is alive, and releases
// the leader. It is called once. If ctx ends it gives up: on the session, if the
// leader has exited; else on the leader too, whose zombie is collected whenever
// there is one.
func (l *Leader) Wait(ctx context.Context) (End, error) {
	last, err := l.reaper.exited(ctx, l)
	if err != nil {
		go l.collectLate()
		return End{}, err
	}
	defer l.release()
	var seen sight
	short := l.nothingSince(last)
	if !short {
		// The leader is a zombie still, or at least its number was in use when
		// the look began: what has it as its session is of this session.
		seen, err = l.waitMembers(ctx)
	}
	d, cerr := l.reaper.collect(l)
	if !numberFree(l.PID) {
		seen, err = l.waitHolders(ctx)
	}
	if err == nil {
		seen, err = l.settled(ctx, seen)
	}
	return End{Status: d.status, CPU: d.cpu, Left: seen.left}, errors.Join(cerr, err)
}

// release ends what is known of the leader's number.
func (l *Leader) release() {
	l.released.Store(true)
	l.handle.Close()
}

func (l *Leader) collectLate() {
	defer l.release()
	if _, err := l.reaper.exited(context.Background(), l); err == nil {
		l.reaper.collect(l)
	}
}

// nothingSince reports whether it is certain, without a scan, that the leader
// left no process, given the last pid handed out before its own was free again.
func (l *Leader) nothingSince(last int) bool {
	if last == l.PID {
		return true
	}
	if last < l.PID || last-l.PID > shortPIDs || time.Since(l.spawned) > shortTime {
		return false
	}
	for pid := l.PID + 1; pid <= last; pid++ {
		if !l.unrelated(pid) {
			return false
		}
		if pid < last {
			continue
		}
		// One that was gone may have forked right before. Its child got a later
		// number.
		if last = lastPID(); last < pid || last-l.PID > shortPIDs {
			return false
		}
	}
	return !l.grouped()
}

// grouped reports whether there are other processes in the leader's group.
func (l *Leader) grouped() bool {
	return slices.ContainsFunc(l.group(), func(pid int) bool { return pid != l.PID })
}

func (l *Leader) group() []int {
	if l == nil || l.Group == nil {
		return nil
	}
	return l.Group()
}

// unrelated reports whether the process or thread with this pid is certain to
// be none of the leader's.
func (l *Leader) unrelated(pid int) bool {
	if _, err := unix.Getsid(pid); err == unix.ESRCH {
		return true
	}
	p, err := lookup(pid)
	if noProcess(err) {
		return true
	}
	if err != nil || p.Zombie || p.SID == l.PID {
		return err == nil && p.Zombie
	}
	mark, known := markOf(p)
	return known && mark != l.Mark
}

// sight is what a look at all processes shows of a leader's.
type sight struct {
	members []Proc // alive, of the leader's session
	zombies []int  // dead, of the leader's session
	left    []Proc // alive, marked, of another session
	reused  bool   // the leader's pid is another process's
	torn    bool   // of a process it cannot be told yet whether it is one of left
}

func (l *Leader) look() (sight, error) {
	t, err := scans.scan()
	if err != nil {
		return sight{}, err
	}
	var s sight
	group := l.group()
	for _, p := range t.procs {
		switch {
		case p.PID == l.PID:
			s.reused = s.reused || p.StartTime != l.StartTime
		case p.StartTime < l.StartTime:
		case p.SID == l.PID && p.Zombie:
			s.zombies = append(s.zombies, p.PID)
		case p.SID == l.PID:
			s.members = append(s.members, p)
		case p.Zombie:
		case slices.Contains(group, p.PID), l.Mark != "" && t.mark(p).value == l.Mark:
			s.left = append(s.left, p)
		case !t.mark(p).known && changing(p):
			s.torn = true
		}
	}
	if s.reused {
		// A number is given out again only when nothing uses it: the session
		// is empty, and what the look took for its members is not.
		s.members, s.zombies = nil, nil
	}
	return s, nil
}

// changing reports whether a process of unknown mark is one of which more will be
// known soon: it has gone, or it is young and may just execute a program. One
// that was started without an environment stays unknown for ever.
func changing(p Proc) bool {
	if Verify(p.process()) != Owned {
		return true
	}
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	born := time.Duration(p.StartTime) * tick
	return err == nil && time.Duration(now.Nano())-born < youngTime
}

// waitMembers waits until a look shows no member of the session.
func (l *Leader) waitMembers(ctx context.Context) (sight, error) {
	for {
		s, err := l.look()
		if err != nil || len(s.members) == 0 {
			return s, err
		}
		for _, p := range s.members {
			if err := l.waitOut(ctx, p.process()); err != nil {
				return s, err
			}
		}
	}
}

// waitOut waits until a member of the session has exited or has left it. The
// kernel tells nobody unprivileged when a process calls setsid, so that is looked
// at: soon and then ever more seldom, because most that do it do it at once.
func (l *Leader) waitOut(ctx context.Context, member Identity) error {
	h, err := open(member)
	if h == nil || err != nil {
		return err
	}
	defer h.Close()
	for pause := time.Millisecond; ; pause = min(4*pause, maxLeave) {
		soon, cancel := context.WithTimeout(ctx, pause)
		err := h.Wait(soon)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if sid, err := unix.Getsid(member.PID); err != nil || sid != l.PID {
			return nil
		}
	}
}

// waitHolders waits until the number of a leader that has been collected is
// free, or is held by zombies alone, whose parents do not reap them. What can be
// seen of neither kind is a process that forks and exits without end, or one
// that /proc hides: nothing can be waited on then, and it is looked again, ever
// more seldom.
func (l *Leader) waitHolders(ctx context.Context) (sight, error) {
	var before []int
	for pause := time.Millisecond; ; pause = min(2*pause, maxPause) {
		s, err := l.waitMembers(ctx)
		// Two looks with the same zombies: nobody exits, so nobody was overlooked.
		if err != nil || s.reused || len(s.zombies) > 0 && slices.Equal(s.zombies, before) || numberFree(l.PID) {
			return s, err
		}
		before = s.zombies
		if sleep(ctx, pause); ctx.Err() != nil {
			return s, ctx.Err()
		}
	}
}

// sleep pauses, or until ctx ends.
func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// settled looks again as long as a process exits before, or soon after, it could
// be told whether it is one that left the session: it may have forked.
func (l *Leader) settled(ctx context.Context, s sight) (sight, error) {
	for look := range leftLooks {
		switch {
		case s.torn:
			sleep(ctx, time.Millisecond<<look)
		case !anyGoneSoon(ctx, s.left):
			return s, nil
		}
		next, err := l.look()
		if err != nil {
			return s, err
		}
		s = next
	}
	return s, nil
}

// anyGoneSoon gives processes a moment and reports whether one of them has exited.
func anyGoneSoon(ctx context.Context, procs []Proc) bool {
	if len(procs) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, leftTime)
	defer cancel()
	_ = waitGone(ctx, procs[0].process())
	return slices.ContainsFunc(procs, func(p Proc) bool { return Verify(p.process()) != Owned })
}

// waitGone waits until the process that id names has exited.
func waitGone(ctx context.Context, id Identity) error {
	h, err := open(id)
	if h == nil || err != nil {
		return err
	}
	defer h.Close()
	return h.Wait(ctx)
}

// open is Open, with nil for a process that is gone or is another.
func open(id Identity) (*Handle, error) {
	h, err := Open(id)
	if v := (*VerdictError)(nil); errors.As(err, &v) && v.Verdict != Unverifiable {
		return nil, nil
	}
	return h, err
}
