package capsuletest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A Report tells how one part of an expectation was met: a task with its
// completions, or what is checked at the end.
type Report struct {
	// Name is the task's name, or "at the end".
	Name string
	// Duration is how long the task and its completions took.
	Duration time.Duration
	// Wrong says what is not as expected, one line each. It is empty if all is.
	Wrong []string
}

// Check runs the capsule of a folder in a session of its own and compares it
// with an expectation. There is a report for each task, and one for the end. An
// error means that the capsule could not be run at all.
func Check(ctx context.Context, rt *runtime.Runtime, dir string, e *Expectation) ([]Report, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout())
	defer cancel()
	m, err := capsule.Load(dir)
	if err != nil {
		return nil, err
	}
	if e.GraceSecs != nil {
		m.Lifecycle.ShellGraceSecs = *e.GraceSecs
	}
	c, err := rt.Load(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	return checkCapsule(ctx, rt, c, e)
}

func checkCapsule(ctx context.Context, rt *runtime.Runtime, c *runtime.Capsule, e *Expectation) ([]Report, error) {
	log := newLog()
	s, err := rt.Start(ctx, c, runtime.SessionOptions{OnResult: log.result, OnEvent: log.event})
	if err != nil {
		return nil, err
	}
	var reports []Report
	for i := range e.Tasks {
		reports = append(reports, checkTask(ctx, s, log, &e.Tasks[i]))
	}
	s.Abort()
	// Only the records of the session can be at fault here, and a time limit
	// must not keep it from being closed.
	end := Report{Name: "at the end"}
	if err := s.Wait(context.WithoutCancel(ctx)); err != nil {
		end.Wrong = append(end.Wrong, err.Error())
	}
	end.Wrong = append(end.Wrong, checkFiles(s.Workdir(), e.Files)...)
	end.Wrong = append(end.Wrong, checkExit(log.results(), e.Exit)...)
	return append(reports, end), nil
}

// checkTask submits a task and waits until nothing of it is outstanding.
func checkTask(ctx context.Context, s *runtime.Session, log *log, t *Task) Report {
	start := time.Now()
	report := Report{Name: t.Name}
	report.Wrong = func() []string {
		origin, err := provenance.ParseOrigin(t.Origin)
		if err != nil {
			return []string{err.Error()}
		}
		ticket, err := s.SubmitWhenAdmitted(ctx, runtime.Task{Origin: origin, Message: t.Message})
		if err != nil {
			return []string{"cannot submit the task: " + err.Error()}
		}
		got, err := ticket.Wait(ctx)
		if err != nil {
			ticket.Cancel()
			return []string{"the task has not ended: " + err.Error()}
		}
		wrong := t.check(got)
		if err := s.WaitIdle(ctx); err != nil {
			return append(wrong, "a completion has not come: "+err.Error())
		}
		return append(wrong, t.checkCompletions(log.completions(got.ContextID))...)
	}()
	report.Duration = time.Since(start)
	return report
}

func (t *Task) checkCompletions(got []runtime.TaskResult) (wrong []string) {
	for i, r := range got {
		if i == len(t.Completions) {
			break
		}
		for _, w := range t.Completions[i].check(r) {
			wrong = append(wrong, fmt.Sprintf("completion %d: %s", i+1, w))
		}
	}
	if len(got) != len(t.Completions) {
		wrong = append(wrong, fmt.Sprintf("want %d completions, got %d", len(t.Completions), len(got)))
		for _, r := range got {
			wrong = append(wrong, "a completion that came: "+show(r.Result))
		}
	}
	return wrong
}

func (o *Outcome) check(got runtime.TaskResult) (wrong []string) {
	if string(got.Status) != o.Status {
		wrong = append(wrong, fmt.Sprintf("want status %s, got %s: %s", o.Status, got.Status, show(got.Result)))
	}
	if o.Trust != "" && got.Trust.String() != o.Trust {
		wrong = append(wrong, fmt.Sprintf("want it %s, got %s", o.Trust, got.Trust))
	}
	return append(wrong, o.Result.Check(got.Result)...)
}

func checkExit(results []runtime.TaskResult, want *int) []string {
	got := 0
	for _, r := range results {
		if r.Status != runtime.StatusOK {
			got = 1
		}
	}
	if want != nil && got != *want {
		return []string{fmt.Sprintf("want exit code %d, got %d", *want, got)}
	}
	return nil
}

func checkFiles(workdir string, files map[string]Text) (wrong []string) {
	for _, pattern := range slices.Sorted(maps.Keys(files)) {
		found, err := filepath.Glob(filepath.Join(workdir, filepath.FromSlash(pattern)))
		if err != nil || len(found) != 1 {
			wrong = append(wrong, fmt.Sprintf("%s: want one such file, got %d", pattern, len(found)))
			continue
		}
		text, err := readSome(found[0])
		if err != nil {
			wrong = append(wrong, err.Error())
			continue
		}
		for _, w := range files[pattern].Check(text) {
			wrong = append(wrong, pattern+": "+w)
		}
	}
	return wrong
}

// readSome reads at most the first 16 MiB of a file that a command wrote.
func readSome(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, 16<<20))
	return string(data), err
}
