package supervisor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/regular"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// launched is a launch as the journal tells it.
type launched struct {
	record  jobs.Record
	streams streams
	spawned bool
	work    string
	exit    *shell.Exit
	output  *shell.Output
	settled bool
}

// account is what a journal tells.
type account struct {
	// launches are in the order of their beginning.
	launches []*launched
	// bad counts lines that are torn or make no sense. They are passed over: a
	// journal is appended to by programs that are killed.
	bad int
	// unread counts those among them that say nothing at all.
	unread int
	// service is the unit that the last supervisor ran in, if any.
	service string
	// receipt is how the commands are contained, if that is known.
	receipt json.RawMessage

	byName map[string]*launched
}

// owed counts the launches that are to be accounted for.
func (a *account) owed() int {
	n := 0
	for _, l := range a.launches {
		if !l.settled {
			n++
		}
	}
	return n
}

// Owes says whether the journal of the session in dir has launches that nobody has
// accounted for: their supervisor died, and no other has taken them over. A line
// that cannot be read may have been of one.
func Owes(dir string) (bool, error) {
	a, err := readJournal(dir)
	return a.owed()+a.unread > 0, err
}

// readJournal reads the journal of dir.
func readJournal(dir string) (account, error) {
	f, err := regular.Open(filepath.Join(dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return account{}, nil
	}
	if err != nil {
		return account{}, fmt.Errorf("cannot read the journal: %w", err)
	}
	defer f.Close()
	return replay(f)
}

func replay(r io.Reader) (account, error) {
	a := account{byName: map[string]*launched{}}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(in)
		if len(bytes.TrimSpace(line)) > 0 {
			a.read(line)
		}
		if errors.Is(err, io.EOF) {
			return a, nil
		}
		if err != nil {
			return a, fmt.Errorf("cannot read the journal: %w", err)
		}
	}
}

func (a *account) read(line []byte) {
	var e entry
	unread := json.Unmarshal(line, &e) != nil
	if unread {
		a.unread++
	}
	if unread || !a.add(e) {
		a.bad++
	}
}

// readLine reads up to the next newline. Of a line over maxLine the head is
// kept, which is no entry: what follows it still counts.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece[:min(len(piece), maxLine-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// add takes a line into account; false if it makes no sense.
func (a *account) add(e entry) bool {
	l := a.byName[e.Launch]
	switch e.Step {
	case stepSupervisor:
		a.service = e.Service
		return true
	case stepContained:
		a.receipt = e.Receipt
		return true
	case stepLaunched:
		if l != nil || e.Record == nil || e.Record.Launch != e.Launch || e.Launch == "" {
			return false
		}
		l = &launched{record: *e.Record}
		e.pipe(l)
		a.byName[e.Launch] = l
		a.launches = append(a.launches, l)
		return true
	default:
		return l != nil && e.advance(l)
	}
}

func (e entry) advance(l *launched) bool {
	switch e.Step {
	case stepSpawned:
		if e.Child == nil {
			return false
		}
		l.spawned, l.record.Identity, l.record.StartedAt = true, *e.Child, e.StartedAt
		e.pipe(l)
	case stepNotSpawned, stepSettled:
		l.settled = true
	case stepDemoted:
		l.work = e.Work
	case stepEnded:
		if e.Exit == nil || e.Output == nil {
			return false
		}
		l.exit, l.output = e.Exit, e.Output
	default:
		return false
	}
	return true
}

func (e entry) pipe(l *launched) {
	if e.Streams != nil {
		l.streams = *e.Streams
	}
}

// entries are the lines that tell the launch's story so far.
func (l *launched) entries() []entry {
	name := l.record.Launch
	list := []entry{{Step: stepLaunched, Launch: name, Record: &l.record, Streams: &l.streams}}
	if l.spawned {
		list = append(list, entry{Step: stepSpawned, Launch: name, Child: &l.record.Identity, StartedAt: l.record.StartedAt})
	}
	if l.work != "" {
		list = append(list, entry{Step: stepDemoted, Launch: name, Work: l.work})
	}
	if l.exit != nil {
		list = append(list, endedEntry(name, *l.exit, *l.output))
	}
	return list
}
