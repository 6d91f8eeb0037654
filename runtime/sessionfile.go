package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/gofrs/flock"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/regular"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// Names within a session's directory.
const (
	traceName       = "trace.jsonl"
	sessionFileName = "session.json"
	lockName        = "lock"
	pendingName     = "tasks"
)

// maxSessionFile bounds what is read of a session file.
const maxSessionFile = 1 << 20

// A sessionFile says what a session was started with.
type sessionFile struct {
	ID          string `json:"id"`
	Capsule     string `json:"capsule"`
	Version     string `json:"version"`
	GuestSHA256 string `json:"guest_sha256"`
	Workdir     string `json:"workdir"`
	Owner       int    `json:"owner"`
	PID         int    `json:"pid"`
	StartedMS   int64  `json:"started_ms"`
	EndedMS     int64  `json:"ended_ms,omitempty"`
	ResumedFrom string `json:"resumed_from,omitempty"`
}

func (f sessionFile) write(dir string) error {
	data, err := json.MarshalIndent(f, "", "  ")
	if err == nil {
		err = writeAtomic(filepath.Join(dir, sessionFileName), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", filepath.Join(dir, sessionFileName), err)
	}
	return nil
}

func readSessionFile(dir string) (f sessionFile, err error) {
	file, err := regular.Open(filepath.Join(dir, sessionFileName))
	if err != nil {
		return f, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSessionFile))
	if err == nil {
		err = json.Unmarshal(data, &f)
	}
	if err == nil && f.ID != filepath.Base(dir) {
		err = fmt.Errorf("it names session %q", f.ID)
	}
	if err != nil {
		return f, fmt.Errorf("cannot read %s: %w", file.Name(), err)
	}
	return f, nil
}

// knownOf is what is known of the session in dir. Where its file is damaged or
// lost, which damage tells, its trace says the rest: one bad file must hide
// neither commands nor results.
func knownOf(dir string) (f sessionFile, damage, err error) {
	f, err = readSessionFile(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if !begun(dir) {
			return f, nil, err
		}
		// It may have begun, or be gone, since.
		f, err = readSessionFile(dir)
		if errors.Is(err, fs.ErrNotExist) && !begun(dir) {
			return f, nil, err
		}
	}
	if err == nil {
		return f, nil, nil
	}
	return retold(dir), err, nil
}

// begun says whether the directory has what no session makes before its file.
func begun(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, pendingName)); err == nil {
		return true
	}
	told, err := os.Lstat(filepath.Join(dir, traceName))
	return err == nil && told.Size() > 0 || supervisor.Began(dir)
}

// retold is a session as its trace tells of it. The state directory holds no
// session of another owner.
func retold(dir string) sessionFile {
	f := sessionFile{ID: filepath.Base(dir), Owner: os.Geteuid()}
	file, err := regular.Open(filepath.Join(dir, traceName))
	if err != nil {
		return f
	}
	defer file.Close()
	for l := range trace.Lines(file) {
		switch e := l.Event; {
		case l.Err != nil || e.SessionID != f.ID:
		case e.Type == trace.SessionStart:
			f.Capsule, f.Version, f.GuestSHA256, f.Workdir = e.Capsule, e.Version, e.GuestSHA256, e.Workdir
			f.StartedMS, f.ResumedFrom = e.Timestamp, e.ResumedFrom
		case e.Type == trace.SessionEnd:
			f.EndedMS = e.Timestamp
		}
	}
	return f
}

// A sessionLock is held by the process that runs a session, for as long as it
// lives: a session whose lock is free is not running.
type sessionLock struct{ f *flock.Flock }

var errRunning = errors.New("the session is running")

// A lock that is held is asked for again for so long, that often: one who only
// looks has it for an instant, and after a process was killed, a child that it
// was just starting has it until that child has become its own program.
const (
	lockPatience = time.Second
	lockPause    = 10 * time.Millisecond
)

func sessionFlock(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600), flock.SetFlag(regular.LockFlags))
}

// lockSession makes the session this process's, or says that it is another's.
func lockSession(dir string) (*sessionLock, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	l := sessionFlock(dir)
	ok, err := l.TryLockContext(ctx, lockPause)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, errRunning
	}
	if err != nil || !ok {
		return nil, fmt.Errorf("cannot lock the session: %w", err)
	}
	return &sessionLock{l}, nil
}

// running looks whether a process has the session. Any number may look at once:
// none takes another one for that process.
func running(dir string) bool {
	l := sessionFlock(dir)
	ok, err := l.TryRLock()
	_ = l.Close()
	return err == nil && !ok
}

func (l *sessionLock) release() { _ = l.f.Close() }

// SessionInfo describes a session found in a state directory.
type SessionInfo struct {
	ID      string    `json:"id"`
	Capsule string    `json:"capsule"`
	Version string    `json:"version"`
	Workdir string    `json:"workdir"`
	Dir     string    `json:"dir"`
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	// Ended is zero while the session runs, and if its process died.
	Ended       time.Time `json:"ended,omitzero"`
	ResumedFrom string    `json:"resumed_from,omitempty"`
	// Running says that a process holds the session.
	Running bool `json:"running"`
	// Damaged is why the session's own file cannot be read. What its trace
	// tells stands above then.
	Damaged string `json:"damaged,omitempty"`
}

// Died says that the session's process went away without ending the session.
func (i SessionInfo) Died() bool { return !i.Running && i.Ended.IsZero() }

// TracePath is the file that holds the session's events.
func (i SessionInfo) TracePath() string { return filepath.Join(i.Dir, traceName) }

// Sessions lists the sessions in a state directory, oldest first. One that ended
// before it had begun has no file and nothing else, and is passed over.
func Sessions(dir string) ([]SessionInfo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list sessions in %q: %w", dir, err)
	}
	root := stateDir(abs).sessions()
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list sessions: %w", err)
	}
	var found []SessionInfo
	for _, e := range entries {
		if !ids.Session.Valid(e.Name()) {
			continue
		}
		if info, err := sessionInfo(filepath.Join(root, e.Name())); err == nil {
			found = append(found, info)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].ID < found[j].ID })
	return found, nil
}

func sessionInfo(dir string) (SessionInfo, error) {
	f, damage, err := knownOf(dir)
	if err != nil {
		return SessionInfo{}, err
	}
	info := SessionInfo{
		ID: f.ID, Capsule: f.Capsule, Version: f.Version, Workdir: f.Workdir, Dir: dir,
		PID: f.PID, Started: time.UnixMilli(f.StartedMS), ResumedFrom: f.ResumedFrom,
	}
	if f.EndedMS != 0 {
		info.Ended = time.UnixMilli(f.EndedMS)
	}
	if damage != nil {
		info.Damaged = damage.Error()
	}
	info.Running = running(dir)
	return info, nil
}

// ReadTrace reads the events of a trace. Lines that are no events are told in
// problems; a torn last line, which a crash leaves, is passed over.
func ReadTrace(path string) (events []Event, problems []error, err error) {
	events, bad, err := trace.ReadFile(path)
	for _, p := range bad {
		problems = append(problems, p)
	}
	return events, problems, err
}
