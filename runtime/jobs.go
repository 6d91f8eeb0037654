package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
)

// A Job is a command of some session in a state directory, as an operator sees
// it: one that runs, or one whose result is owed or was delivered not long ago.
// It is a handle: it acts on that command alone.
type Job struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Capsule string `json:"capsule"`
	Workdir string `json:"workdir"`
	Command string `json:"command"`
	// State is "foreground" while a guest waits for the command, "running" in
	// the background, and "done" or "failed" once it has ended.
	State string `json:"state"`
	// Reason is why it has no exit code of its own, and Limit the resource limit
	// that it met.
	Reason string `json:"reason,omitempty"`
	Limit  string `json:"resource_limit,omitempty"`
	// ExitCode is set once it has ended.
	ExitCode *int      `json:"exit_code,omitempty"`
	Started  time.Time `json:"started"`
	// Running is how long it has run, or ran.
	Running     time.Duration `json:"running_ns"`
	OutputBytes int64         `json:"output_bytes"`
	// Delivery is "owed", "offered" or "taken" once a background command has
	// ended.
	Delivery string `json:"delivery,omitempty"`
	// LeftRunning names processes of the command that live on after its end.
	LeftRunning []string `json:"left_running,omitempty"`
	// Containment is the command's [Receipt], if it has a record with one.
	Containment json.RawMessage `json:"containment,omitempty"`

	dir    string // the session's
	handle *jobs.Handle
	launch string // of a foreground command
	output jobs.Output
}

// ErrUnproven says that not every process of a command could be proven dead.
var ErrUnproven = jobs.ErrKillFailed

// Jobs lists the commands of all sessions in a state directory, oldest first.
// It works beside the processes that run the sessions, and without them. What
// could not be read is told in problems.
func Jobs(ctx context.Context, dir string) (found []*Job, problems []error, err error) {
	sessions, err := Sessions(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range sessions {
		list, bad := sessionJobs(ctx, info)
		found = append(found, list...)
		problems = append(problems, bad...)
	}
	slices.SortStableFunc(found, func(a, b *Job) int { return a.Started.Compare(b.Started) })
	return found, problems, nil
}

// sessionJobs asks the session's supervisor first: what ends while the records
// are read is then in both, and told once.
func sessionJobs(ctx context.Context, info SessionInfo) (found []*Job, problems []error) {
	if info.Damaged != "" {
		problems = append(problems, fmt.Errorf("session %s: %s", info.ID, info.Damaged))
	}
	living, err := livingCommands(ctx, info.Dir)
	if err != nil {
		problems = append(problems, fmt.Errorf("session %s: %w", info.ID, err))
	}
	handles, err := recordsOf(ctx, info.Dir)
	if err != nil {
		problems = append(problems, fmt.Errorf("session %s: %w", info.ID, err))
	}
	recorded := map[string]bool{}
	for _, h := range handles {
		recorded[h.Record().Launch] = true
		found = append(found, recordedJob(info, h))
	}
	for _, c := range living {
		if !recorded[c.Launch] && !c.Ended {
			found = append(found, foregroundJob(info, c))
		}
	}
	return found, problems
}

func livingCommands(ctx context.Context, dir string) ([]supervisor.Command, error) {
	op, err := supervisor.Dial(dir, nil)
	if errors.Is(err, supervisor.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer op.Close()
	return op.List(ctx)
}

// recordsOf reads a session's records, brought up to what is true.
func recordsOf(ctx context.Context, dir string) ([]jobs.Handle, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	store, err := supervisor.Records(dir)
	if err != nil {
		return nil, err
	}
	err = withPass(dir, func(p jobs.Pass) error {
		_, err := store.Reconcile(ctx, p)
		return err
	})
	handles, asides, listErr := store.List()
	for _, a := range asides {
		err = errors.Join(err, errors.New("a record was set aside: "+a.String()))
	}
	return handles, errors.Join(err, listErr)
}

// withPass calls f with what a pass over the session's records needs.
func withPass(dir string, f func(jobs.Pass) error) error {
	p := jobs.Pass{Processes: supervisor.Host{}, Now: time.Now()}
	op, err := supervisor.Dial(dir, nil)
	if err == nil {
		defer op.Close()
		p.Supervisor = op
	} else if !errors.Is(err, supervisor.ErrNone) {
		return err
	}
	return f(p)
}

func recordedJob(info SessionInfo, h jobs.Handle) *Job {
	r := h.Record()
	j := &Job{
		ID: r.WorkID, Session: info.ID, Capsule: r.Capsule, Workdir: r.Workdir, Command: r.Command,
		State: r.Status(), Started: time.UnixMilli(r.StartedAt), Running: r.Age(time.Now()),
		Containment: r.Receipt,
		dir:         info.Dir, handle: &h, output: r.Output,
	}
	j.OutputBytes = j.outputBytes()
	if r.Outcome == nil {
		return j
	}
	j.ExitCode, j.Reason, j.Limit = &r.Outcome.ExitCode, string(r.Outcome.Reason), r.Outcome.Limit
	j.Running = time.Duration(r.Outcome.DurationMS) * time.Millisecond
	j.Delivery = map[jobs.State]string{jobs.Finished: "owed", jobs.Offered: "offered", jobs.Taken: "taken"}[r.State]
	if len(r.Outcome.LeftRunning)+len(r.Outcome.Survivors) > 0 {
		for _, p := range (supervisor.Host{}).Members(r) {
			j.LeftRunning = append(j.LeftRunning, fmt.Sprintf("%d (%s)", p.PID, p.Name))
		}
	}
	return j
}

func foregroundJob(info SessionInfo, c supervisor.Command) *Job {
	j := &Job{
		ID: c.Launch, Session: info.ID, Capsule: info.Capsule, Workdir: info.Workdir, Command: c.Text,
		State: "foreground", Started: c.Started, Running: time.Since(c.Started), dir: info.Dir, launch: c.Launch,
	}
	if c.Output != nil {
		j.output = jobs.Output{
			StdoutPath: c.Output.StdoutPath, StderrPath: c.Output.StderrPath,
			StdoutBytes: c.Output.StdoutBytes, StderrBytes: c.Output.StderrBytes,
		}
		j.OutputBytes = j.outputBytes()
	}
	return j
}

// outputBytes is how much was written, as far as it is known: what is on disk,
// or the count of an ended command, which knows of output that was dropped.
func (j *Job) outputBytes() int64 {
	counted := j.output.StdoutBytes + j.output.StderrBytes
	var onDisk int64
	for _, path := range []string{j.output.StdoutPath, j.output.StderrPath} {
		if info, err := os.Stat(path); err == nil {
			onDisk += info.Size()
		}
	}
	return max(counted, onDisk)
}

// Ended says whether the command has ended and nothing of it lives on.
func (j *Job) Ended() bool {
	return j.State != "foreground" && j.State != "running" && len(j.LeftRunning) == 0
}

// Text is what an operator reads: how the command stands or why it ended, and
// the head and the tail of its output. It is safe for a terminal.
func (j *Job) Text() string {
	if j.handle == nil {
		return "Command is running in the foreground.\nCommand: " + shell.Quote(j.Command) + "\n"
	}
	return j.handle.Text()
}

// OutputFiles are the files that hold the command's standard output and standard
// error as they were written, up to the cap.
func (j *Job) OutputFiles() (stdout, stderr string) { return j.output.StdoutPath, j.output.StderrPath }

// Refresh reads the job again.
func (j *Job) Refresh(ctx context.Context) (*Job, error) {
	info, err := sessionInfo(j.dir)
	if err != nil {
		return nil, err
	}
	list, problems := sessionJobs(ctx, info)
	for _, other := range list {
		if other.is(j) {
			return other, nil
		}
	}
	return nil, errors.Join(append(problems, fmt.Errorf("%s: %w", j.ID, fs.ErrNotExist))...)
}

// is says whether two listings found the same command, which may have gone from
// the foreground to the background in between.
func (j *Job) is(o *Job) bool {
	return j.ID == o.ID || o.launch != "" && j.handle != nil && j.handle.Record().Launch == o.launch
}

// Stop ends the command's processes (TERM, two seconds, KILL), those that it
// left running included, and returns how it stands then. A background command's
// guest was promised a task, and gets it with the reason killed. An error that
// is [ErrUnproven] names what survived; the record is kept.
func (j *Job) Stop(ctx context.Context) (*Job, error) {
	var err error
	switch {
	case j.handle == nil:
		err = withPass(j.dir, func(p jobs.Pass) error {
			if p.Supervisor == nil {
				return nil
			}
			return p.Supervisor.Stop(ctx, j.launch, "")
		})
	case j.State == "running":
		err = withPass(j.dir, func(p jobs.Pass) error {
			_, err := j.handle.Stop(ctx, p)
			return err
		})
	case len(j.LeftRunning) > 0:
		err = j.stopLeft(ctx)
	}
	if err != nil {
		return j, fmt.Errorf("cannot stop %s: %w", j.ID, err)
	}
	now, err := j.Refresh(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil // A foreground command leaves no record.
	}
	return now, err
}

// stopLeft ends the processes that an ended command left.
func (j *Job) stopLeft(ctx context.Context) error {
	survivors, err := supervisor.Host{}.Teardown(ctx, j.handle.Record())
	if err == nil && len(survivors) > 0 {
		names := make([]string, len(survivors))
		for i, s := range survivors {
			names[i] = fmt.Sprintf("%d (%s)", s.PID, s.Name)
		}
		err = fmt.Errorf("%w: %s", ErrUnproven, strings.Join(names, ", "))
	}
	return err
}
