package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/regular"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// journalFile is written without syncing: it survives the death of every
// process, which is when it is needed. After the machine's death no process
// lives that it could name.
const journalFile = "journal"

// maxLine bounds a line of the journal: a launch with a command text of
// 128 KiB, every byte of it escaped, fits. What is longer is not written, and
// passed over in reading.
const maxLine = 2 << 20

// compactAt is the size from which the journal is written anew with what still
// counts.
const compactAt = 4 << 20

// step names a line of the journal.
type step string

// The steps of a launch. Launched without spawned is a fork that nobody saw
// the end of; it is resolved by the mark, and never started again.
const (
	stepSupervisor step = "supervisor"
	stepContained  step = "contained"
	stepLaunched   step = "launched"
	stepSpawned    step = "spawned"
	stepNotSpawned step = "not_spawned"
	stepDemoted    step = "demoted"
	stepEnded      step = "ended"
	stepSettled    step = "settled"
)

// entry is one line of the journal.
type entry struct {
	Step step `json:"step"`
	// Launch names the launch that the line is about.
	Launch string `json:"launch,omitempty"`
	// Self is the supervisor that writes.
	Self  *jobs.Identity `json:"self,omitempty"`
	Build string         `json:"build,omitempty"`
	// Service is the service manager's unit that it runs in, if any.
	Service string `json:"service,omitempty"`
	// Receipt tells how the session's commands are contained.
	Receipt json.RawMessage `json:"containment,omitempty"`
	// Record is what the launch's record would say; it has no work id.
	Record    *jobs.Record   `json:"record,omitempty"`
	Streams   *streams       `json:"streams,omitempty"`
	Child     *jobs.Identity `json:"child,omitempty"`
	StartedAt int64          `json:"started_at,omitempty"`
	Work      string         `json:"work,omitempty"`
	Exit      *shell.Exit    `json:"exit,omitempty"`
	Output    *shell.Output  `json:"output,omitempty"`
}

// streams are how a command's output is captured, for a supervisor that has to
// go on with it.
type streams struct {
	Dir   string `json:"dir"`
	Limit int64  `json:"limit"`
	// Pipes are the inode numbers of the pipes; known once it is spawned.
	Pipes [2]uint64 `json:"pipes,omitzero"`
}

// journal is the open journal of a supervisor. Not safe for concurrent use.
type journal struct {
	path string
	file *os.File
	size int64
	// later are lines that the next write takes along.
	later []byte
}

// openJournal opens the journal of dir for appending. A last line that was torn
// is closed, so that the next one stands on its own.
func openJournal(dir string) (*journal, error) {
	path := filepath.Join(dir, journalFile)
	f, err := regular.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the journal: %w", err)
	}
	j := &journal{path: path, file: f}
	if err := j.heal(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the journal: %w", err), f.Close())
	}
	return j, nil
}

func (j *journal) heal() error {
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	j.size = info.Size()
	if j.size == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := j.file.ReadAt(last, j.size-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	return j.put([]byte("\n"))
}

// write appends one line, after those that were put off.
func (j *journal) write(e entry) error {
	line, err := json.Marshal(e)
	if err == nil && len(line) >= maxLine {
		err = fmt.Errorf("a line of %d bytes is over the limit of %d", len(line), maxLine)
	}
	if err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	if err := j.put(append(append(j.later, line...), '\n')); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	j.later = j.later[:0]
	return nil
}

// flush appends what was put off.
func (j *journal) flush() error {
	if len(j.later) == 0 {
		return nil
	}
	if err := j.put(j.later); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	j.later = j.later[:0]
	return nil
}

// putOff appends a line whenever the next one is written. If that never comes,
// what it says is found out again, or told once too often.
func (j *journal) putOff(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	j.later = append(append(j.later, line...), '\n')
	return nil
}

// put writes b whole or not at all: half a line would swallow the next.
func (j *journal) put(b []byte) error {
	n, err := j.file.Write(b)
	if err != nil && n > 0 {
		return errors.Join(err, j.file.Truncate(j.size))
	}
	j.size += int64(n)
	return err
}

// rewrite replaces the journal by the given lines, at one instant.
func (j *journal) rewrite(entries []entry) error {
	next, err := regular.OpenFile(j.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("cannot compact the journal: %w", err)
	}
	n := &journal{path: j.path, file: next}
	for _, e := range entries {
		if err := n.write(e); err != nil {
			return errors.Join(err, next.Close(), os.Remove(next.Name()))
		}
	}
	if err := os.Rename(next.Name(), j.path); err != nil {
		return errors.Join(fmt.Errorf("cannot compact the journal: %w", err), next.Close())
	}
	err = j.file.Close()
	*j = *n
	return err
}

// remove deletes the journal of a supervisor that owes nothing any more.
func (j *journal) remove() error { return errors.Join(os.Remove(j.path), j.file.Close()) }

// maxNamed bounds how many processes of each kind a line names, so that it does
// not grow with what a command leaves.
const maxNamed = 1024

// endedEntry is the line by which a launch's end is told.
func endedEntry(launch string, exit shell.Exit, output shell.Output) entry {
	exit.LeftRunning = exit.LeftRunning[:min(len(exit.LeftRunning), maxNamed)]
	exit.Survivors = exit.Survivors[:min(len(exit.Survivors), maxNamed)]
	return entry{Step: stepEnded, Launch: launch, Exit: &exit, Output: &output}
}
