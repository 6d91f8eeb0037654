package trace

import (
	"errors"
	"io"
)

// A book is what one trace says about its tasks and commands.
type book struct {
	resumedFrom string
	detached    []Event
	closed      map[string]bool    // work ids that an event accounts for
	reported    map[string][]Event // shell_lost, by work id
	tasks       map[string]Event   // task_start, by task id
	taken       map[string]bool    // tasks that a guest has taken
}

func readBook(r io.Reader) (*book, error) {
	b := &book{
		closed: map[string]bool{}, reported: map[string][]Event{},
		tasks: map[string]Event{}, taken: map[string]bool{},
	}
	for line := range Lines(r) {
		if readErr := (*readError)(nil); errors.As(line.Err, &readErr) {
			return b, line.Err
		}
		if line.Err == nil {
			b.enter(line.Event)
		}
	}
	return b, nil
}

func (b *book) enter(e Event) {
	switch e.Type {
	case SessionStart:
		b.resumedFrom = e.ResumedFrom
	case TaskStart:
		if before, twice := b.tasks[e.TaskID]; twice && (before.Origin != e.Origin || before.Trust != e.Trust) {
			e.Origin, e.Trust = "", ""
		}
		b.tasks[e.TaskID] = e
	case TaskEnd:
		if e.ExitStatus == StatusOK || e.ExitStatus == StatusError {
			b.taken[e.TaskID] = true
		}
	case ShellDetached:
		b.detached = append(b.detached, e)
	case ShellCompleted, ShellAbandoned, ShellCarried:
		b.closed[e.WorkID] = true
	case ShellLost:
		b.reported[e.WorkID] = append(b.reported[e.WorkID], e)
	}
}
