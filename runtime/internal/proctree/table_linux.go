package proctree

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// A table is what one scan of /proc saw.
type table struct {
	procs []Proc

	mu    sync.Mutex
	marks map[int]mark
}

// A mark is what [markOf] returns.
type mark struct {
	value string
	known bool
}

// mark returns the mark of a process of the table. It is read once a table, so
// that any number of commands that look for theirs share the work.
func (t *table) mark(p Proc) mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.marks[p.PID]
	if !ok {
		m.value, m.known = markOf(p)
		t.marks[p.PID] = m
	}
	return m
}

// maxRounds bounds how often one scan lists the processes, whatever goes on
// among them.
const maxRounds = 16

// scanProc reads the whole table, less the processes that go meanwhile and those
// that the mount options of /proc hide from this user. What goes between being
// listed and being looked at may have forked in that time: a daemon is born like
// that. So it is listed again until nothing new has gone.
func scanProc() (*table, error) {
	t := &table{marks: map[int]mark{}}
	seen := map[string]bool{}
	for range maxRounds {
		names, err := procNames()
		if err != nil {
			return nil, fmt.Errorf("cannot list processes: %w", err)
		}
		if whole, err := t.add(names, seen); whole || err != nil {
			return t, err
		}
	}
	return t, nil
}

// add looks at the processes that have not been seen yet, and reports whether all
// of them were alive.
func (t *table) add(names []string, seen map[string]bool) (whole bool, err error) {
	whole = true
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || seen[name] {
			continue
		}
		seen[name] = true
		p, err := lookup(pid)
		whole = whole && !noProcess(err) && !p.Zombie
		if noProcess(err) || errors.Is(err, os.ErrPermission) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("cannot look at pid %d: %w", pid, err)
		}
		t.procs = append(t.procs, p)
	}
	return whole, nil
}

func procNames() ([]string, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// A scanner lets callers that ask at about the same time share one scan. Every
// caller gets a scan that began after it asked.
type scanner struct {
	running sync.Mutex // held by the scan in progress

	mu   sync.Mutex
	next *pendingScan
}

type pendingScan struct {
	once  sync.Once
	table *table
	err   error
}

var scans scanner

func (s *scanner) scan() (*table, error) {
	s.mu.Lock()
	if s.next == nil {
		s.next = new(pendingScan)
	}
	p := s.next
	s.mu.Unlock()
	p.once.Do(func() {
		s.running.Lock()
		defer s.running.Unlock()
		s.mu.Lock()
		s.next = nil // whoever asks from here on is too late for this one
		s.mu.Unlock()
		p.table, p.err = scanProc()
	})
	return p.table, p.err
}
