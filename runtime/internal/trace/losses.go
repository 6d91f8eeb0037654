package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// A Loss is a background command that no trace accounts for.
type Loss struct {
	WorkID       string
	Binary       string
	Command      string
	DetachedAtMS int64
	// Reported says that an earlier resume has reported it, and died before a
	// guest had taken the report.
	Reported bool
	// Origin and Trust are those of the task that started the command, as its
	// task_start names them. Both are empty where that cannot be found: such a
	// command counts as untrusted.
	Origin, Trust string
}

// SessionLosses are the losses of one session, in the order of their demotion.
type SessionLosses struct {
	Session string
	Losses  []Loss
}

// Losses finds the background commands of an ended session, and of those that
// it was resumed from, that are unaccounted for: demoted, and neither
// completed, abandoned nor carried. The oldest session comes first.
//
// One that an earlier resume has already reported (shell_lost) is accounted for
// only if a guest has taken that report's task: a resume that died in between
// must not swallow it.
//
// Traces are read through open, which gets a session's id as the traces name it
// and must check it; an error that is fs.ErrNotExist stands for a session that
// is no more. Losses found before another error are returned with it.
func Losses(session string, open func(session string) (io.ReadCloser, error)) ([]SessionLosses, error) {
	b := books{open: open, read: map[string]*book{}}
	chain, err := b.chain(session)
	var found []SessionLosses
	for i := len(chain) - 1; i >= 0; i-- {
		losses, lossErr := b.losses(chain[i])
		err = errors.Join(err, lossErr)
		if len(losses) > 0 {
			found = append(found, SessionLosses{chain[i], losses})
		}
	}
	return found, err
}

// books are the traces read so far.
type books struct {
	open func(session string) (io.ReadCloser, error)
	read map[string]*book // by session; nil for one that is no more
	all  []*book          // in the order of reading
}

func (b *books) get(session string) (*book, error) {
	if known, ok := b.read[session]; ok {
		return known, nil
	}
	file, err := b.open(session)
	if errors.Is(err, fs.ErrNotExist) {
		b.read[session] = nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open the trace of session %q: %w", session, err)
	}
	defer file.Close()
	read, err := readBook(file)
	b.read[session] = read
	b.all = append(b.all, read)
	if err != nil {
		return read, fmt.Errorf("cannot read the trace of session %s: %w", session, err)
	}
	return read, nil
}

// chain reads the session's trace and those of its forebears, the youngest
// first. A ring, which no runtime makes, ends it.
func (b *books) chain(session string) (chain []string, err error) {
	for session != "" {
		if _, seen := b.read[session]; seen {
			return chain, nil
		}
		read, err := b.get(session)
		if read != nil {
			chain = append(chain, session)
		}
		if read == nil || err != nil {
			return chain, err
		}
		session = read.resumedFrom
	}
	return chain, nil
}

func (b *books) losses(session string) (losses []Loss, err error) {
	seen := map[string]bool{}
	for _, e := range b.read[session].detached {
		if seen[e.WorkID] || b.closed(e.WorkID) {
			continue
		}
		seen[e.WorkID] = true
		told, toldErr := b.told(e.WorkID)
		err = errors.Join(err, toldErr)
		if !told {
			losses = append(losses, b.loss(e))
		}
	}
	return losses, err
}

func (b *books) loss(e Event) Loss {
	at := e.Timestamp
	if e.DetachedAtMS != nil {
		at = *e.DetachedAtMS
	}
	start := b.start(e.TaskID)
	return Loss{
		WorkID: e.WorkID, Binary: e.Binary, Command: e.Command, DetachedAtMS: at,
		Origin: start.Origin, Trust: start.Trust, Reported: b.reported(e.WorkID),
	}
}

// start is the task's task_start. A task that is unknown, or that traces do not
// agree on, has none.
func (b *books) start(task string) (start Event) {
	if task == "" {
		return Event{}
	}
	found := false
	for _, read := range b.all {
		e, ok := read.tasks[task]
		if ok && found && (e.Origin != start.Origin || e.Trust != start.Trust) {
			return Event{}
		}
		if ok {
			start, found = e, true
		}
	}
	return start
}

// closed says whether any trace accounts for the work: one that a later session
// took over ends in that session's trace.
func (b *books) closed(work string) bool {
	for _, read := range b.all {
		if read.closed[work] {
			return true
		}
	}
	return false
}

// reported says whether the work was reported as lost, taken or not.
func (b *books) reported(work string) bool {
	return slices.ContainsFunc(b.all, func(read *book) bool { return len(read.reported[work]) > 0 })
}

// told says whether the work was reported as lost and that report was taken.
func (b *books) told(work string) (bool, error) {
	for _, read := range b.all {
		for _, report := range read.reported[work] {
			if _, err := b.get(report.ReconciledBySession); err != nil {
				return false, err
			}
			if b.taken(report.ReconciledTaskID) {
				return true, nil
			}
		}
	}
	return false, nil
}

func (b *books) taken(task string) bool {
	for _, read := range b.all {
		if read.taken[task] {
			return true
		}
	}
	return false
}
