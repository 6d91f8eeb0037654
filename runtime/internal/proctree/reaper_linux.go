package proctree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// collector is what a leader needs of its reaper.
type collector interface {
	// exited waits for the leader's exit and returns the last pid that the
	// kernel had given out before the leader's own was free again.
	exited(ctx context.Context, l *Leader) (last int, err error)
	// collect returns what is known of a leader that has exited, and frees its
	// pid if that has not happened yet.
	collect(l *Leader) (death, error)
}

// A death is what the kernel tells of a child that has exited.
type death struct {
	status syscall.WaitStatus
	cpu    time.Duration
}

// OwnChildren collects each leader by its pid and touches no other child of
// this process. A leader stays a zombie until its session looks empty, so that
// its pid keeps its meaning.
type OwnChildren struct{}

// Spawn implements [Reaper].
func (o OwnChildren) Spawn(mark string, fork func() (Forked, error)) (*Leader, error) {
	f, err := fork()
	if err != nil {
		return nil, err
	}
	return newLeader(f, mark, o)
}

func (OwnChildren) exited(ctx context.Context, l *Leader) (int, error) {
	if err := l.handle.Wait(ctx); err != nil {
		return 0, err
	}
	return lastPID(), nil
}

func (OwnChildren) collect(l *Leader) (death, error) {
	got, d, err := reap(l.PID)
	if err == nil && got != l.PID {
		err = errors.New("it has not exited")
	}
	if err != nil {
		return death{}, fmt.Errorf("cannot collect the exit status of pid %d: %w", l.PID, err)
	}
	return d, nil
}

// reap collects a child that has exited; pid -1 stands for any. It returns 0 if
// there is none.
func reap(pid int) (got int, d death, err error) {
	for {
		var usage syscall.Rusage
		got, err = syscall.Wait4(pid, &d.status, syscall.WNOHANG, &usage)
		if err != syscall.EINTR {
			d.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
			return got, d, os.NewSyscallError("wait4", err)
		}
	}
}

// A Subreaper makes this process the parent of every orphan that its children
// leave, and reaps them all. The process must wait for no child in any other
// way, os/exec included.
type Subreaper struct {
	signals chan os.Signal
	stopped chan struct{}

	mu      sync.Mutex
	leaders map[int]*collected
}

// collected is a leader that a subreaper has reaped.
type collected struct {
	done chan struct{}
	last int
	death
}

// NewSubreaper makes this process a subreaper and starts reaping.
func NewSubreaper() (*Subreaper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, os.NewSyscallError("prctl(PR_SET_CHILD_SUBREAPER)", err)
	}
	s := &Subreaper{
		signals: make(chan os.Signal, 1),
		stopped: make(chan struct{}),
		leaders: map[int]*collected{},
	}
	signal.Notify(s.signals, unix.SIGCHLD)
	go s.run()
	return s, nil
}

// Close stops reaping. Leaders that have not ended are never collected.
func (s *Subreaper) Close() error {
	signal.Stop(s.signals)
	close(s.signals)
	<-s.stopped
	return os.NewSyscallError("prctl", unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0))
}

// Spawn implements [Reaper]. The lock is held over the fork, so that the loop
// cannot meet a child that it does not know yet.
func (s *Subreaper) Spawn(mark string, fork func() (Forked, error)) (*Leader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := fork()
	if err != nil {
		return nil, err
	}
	l, err := newLeader(f, mark, s)
	if err != nil {
		return nil, err
	}
	l.collected = &collected{done: make(chan struct{})}
	s.leaders[f.PID] = l.collected
	return l, nil
}

// exited does not wait for the signal to be handled, which takes two more
// threads: it is not for nothing that a leader has a pidfd.
func (s *Subreaper) exited(ctx context.Context, l *Leader) (int, error) {
	if err := l.handle.Wait(ctx); err != nil {
		return 0, err
	}
	for s.reapOne() {
	}
	<-l.collected.done
	return l.collected.last, nil
}

func (s *Subreaper) collect(l *Leader) (death, error) {
	<-l.collected.done
	return l.collected.death, nil
}

// run reaps at each signal all there is to reap, because signals that come
// close together are merged.
func (s *Subreaper) run() {
	defer close(s.stopped)
	for range s.signals {
		for s.reapOne() {
		}
	}
}

func (s *Subreaper) reapOne() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, d, err := reap(-1)
	if err != nil || pid <= 0 {
		return false
	}
	if c := s.leaders[pid]; c != nil {
		// The pid has been free for a microsecond, in which the kernel cannot
		// have given out all others: if it is the last one, it is the old one.
		c.last, c.death = lastPID(), d
		close(c.done)
		delete(s.leaders, pid)
	}
	return true
}
