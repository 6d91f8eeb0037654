package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/regular"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A pendingStore keeps the tasks of outside callers that were admitted and have
// not ended, so that they survive the death of the runtime. Beside a task's
// file, <task>.json, lie empty marks of how far it came: <task>.running.<boot>
// and <task>.ran. The marks are not synced: they survive the death of every
// process, and after that of the machine, which the boot id shows, the worst is
// assumed.
type pendingStore struct{ dir string }

// maxPendingFile bounds what is read of one file: a message, every byte of it
// escaped at its worst, fits.
const maxPendingFile = 6*MaxMessage + 1<<20

const pendingVersion = 1

// A pendingTask is one admitted task on disk.
type pendingTask struct {
	Version   int    `json:"version"`
	ID        string `json:"id"`
	ContextID string `json:"context_id"`
	Source    string `json:"source"`
	Origin    string `json:"origin"`
	Trust     string `json:"trust"`
	Message   string `json:"message"`
	Repeated  bool   `json:"repeated,omitempty"`

	running, ran bool
	boot         string
}

func openPending(dir string) (*pendingStore, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("cannot keep tasks: %w", err)
	}
	return &pendingStore{dir}, nil
}

func (p *pendingStore) path(id, suffix string) string { return filepath.Join(p.dir, id+suffix) }

// save makes the task durable, before its caller is told that it was admitted.
func (p *pendingStore) save(t *task) error {
	data, err := json.Marshal(pendingTask{
		Version: pendingVersion, ID: t.id, ContextID: t.contextID, Source: t.source,
		Origin: t.prov.Origin().String(), Trust: t.prov.Trust().String(), Message: t.message, Repeated: t.repeated,
	})
	if err == nil {
		err = writeAtomic(p.path(t.id, ".json"), data)
	}
	if err == nil {
		err = syncDir(p.dir)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the task: %w", err)
	}
	return nil
}

// begin marks the task as given to the guest.
func (p *pendingStore) begin(t *task) error { return p.mark(t, ".running."+bootID()) }

// ran marks that the task is about to start a command: from now on it is never
// run a second time.
func (p *pendingStore) ran(t *task) error {
	if t.ran || t.delivery != nil {
		return nil
	}
	t.ran = true
	return p.mark(t, ".ran")
}

func (p *pendingStore) mark(t *task, suffix string) error {
	if t.delivery != nil {
		return nil
	}
	f, err := regular.OpenFile(p.path(t.id, suffix), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot keep account of the task: %w", err)
	}
	return f.Close()
}

// forget removes the task: it has ended, or is another session's now.
func (p *pendingStore) forget(id string) {
	for _, name := range p.names(id) {
		_ = os.Remove(filepath.Join(p.dir, name))
	}
}

// names are the files of a task, its own first: once that is gone the marks
// mean nothing.
func (p *pendingStore) names(id string) []string {
	names := []string{id + ".json", id + ".ran", id + ".running." + bootID()}
	entries, _ := os.ReadDir(p.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), id+".running.") && !slices.Contains(names, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// owes says whether any task is here, one that could not be read included: nobody
// knows whose it was. It moves nothing aside, so whoever takes the tasks over is
// told.
func (p *pendingStore) owes() (bool, error) {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		id, rest, _ := strings.Cut(e.Name(), ".")
		return ids.Task.Valid(id) && (rest == "json" || rest == "bad")
	}), err
}

// list reads the tasks, oldest first. Files that hold none are moved aside and
// told in problems.
func (p *pendingStore) list() (tasks []pendingTask, problems []error, err error) {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	marks := map[string][]string{}
	for _, e := range entries {
		id, rest, _ := strings.Cut(e.Name(), ".")
		marks[id] = append(marks[id], rest)
	}
	for id, rests := range marks {
		if !ids.Task.Valid(id) || !slices.Contains(rests, "json") {
			continue
		}
		t, err := p.read(id)
		if err != nil {
			problems = append(problems, err)
			_ = os.Rename(p.path(id, ".json"), p.path(id, ".bad"))
			continue
		}
		t.setMarks(rests)
		tasks = append(tasks, t)
	}
	slices.SortFunc(tasks, func(a, b pendingTask) int { return strings.Compare(a.ID, b.ID) })
	return tasks, problems, nil
}

func (t *pendingTask) setMarks(rests []string) {
	for _, rest := range rests {
		if boot, ok := strings.CutPrefix(rest, "running."); ok {
			t.running, t.boot = true, boot
		}
		t.ran = t.ran || rest == "ran"
	}
}

// interrupted says that the task may have started a command, so that it must
// not be run again.
func (t *pendingTask) interrupted() bool { return t.running && (t.ran || t.boot != bootID()) }

func (p *pendingStore) read(id string) (t pendingTask, err error) {
	f, err := regular.Open(p.path(id, ".json"))
	if err != nil {
		return t, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPendingFile))
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err == nil {
		err = t.check(id)
	}
	if err != nil {
		return t, fmt.Errorf("cannot read task %s: %w", f.Name(), err)
	}
	return t, nil
}

func (t *pendingTask) check(id string) error {
	switch {
	case t.Version != pendingVersion:
		return fmt.Errorf("version %d is not known", t.Version)
	case t.ID != id:
		return fmt.Errorf("it names task %q", t.ID)
	case !ids.Context.Valid(t.ContextID) && t.ContextID == "":
		return errors.New("it names no context")
	case len(t.Message) > MaxMessage:
		return fmt.Errorf("the message has %d bytes", len(t.Message))
	}
	_, err := provenance.Restore(t.Origin, t.Trust)
	return err
}
