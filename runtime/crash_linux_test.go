package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// The steps of a task with one background command, in their order.
var crashSteps = []string{
	"given api", "started", "demoted", "answered api", "ended", "offered",
	"given detached_shell", "answered detached_shell", "followed up", "marked",
}

// The runtime is killed at every step, alone or with the supervisor. Whatever
// the step: the command runs once, its completion arrives at least once, a
// repetition says so, and the store is whole.
func TestCrash_everyStep(t *testing.T) {
	for _, both := range []bool{false, true} {
		for _, step := range crashSteps {
			name := step
			if both {
				name += ", with the supervisor"
			}
			t.Run(name, func(t *testing.T) { crashAt(t, step, both) })
		}
	}
}

func crashAt(t *testing.T, step string, both bool) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	t.Cleanup(func() { killSupervisors(t, dir) })
	err := victim(t, dir, step, both)
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, syscall.SIGKILL, exit.Sys().(syscall.WaitStatus).Signal(), "it was to die at %q", step)
	require.NoError(t, victim(t, dir, "", false))

	runs, err := os.ReadFile(filepath.Join(work, "runs"))
	require.NoError(t, err)
	assert.Equal(t, "ran\n", string(runs), "the command ran once")
	taken, err := os.ReadFile(filepath.Join(work, "taken"))
	require.NoError(t, err)
	deliveries := strings.Fields(string(taken))
	require.NotEmpty(t, deliveries, "the completion arrived")
	// One that was offered and not seen is marked too: nobody can tell.
	for _, d := range deliveries[1:] {
		assert.Equal(t, "repeated", d)
	}
	assertWhole(t, dir)

	// A third runtime has nothing left to do.
	require.NoError(t, victim(t, dir, "", false))
	again, err := os.ReadFile(filepath.Join(work, "taken"))
	require.NoError(t, err)
	assert.Equal(t, string(taken), string(again), "what was taken is not delivered again")
}

// assertWhole checks that every record and task can be read, and none is owed.
func assertWhole(t *testing.T, dir string) {
	found, problems, err := Jobs(t.Context(), filepath.Join(dir, "state"))
	require.NoError(t, err)
	assert.Empty(t, problems)
	for _, j := range found {
		assert.Equal(t, "taken", j.Delivery, "%s %s", j.ID, j.State)
	}
	sessions, err := Sessions(filepath.Join(dir, "state"))
	require.NoError(t, err)
	for _, s := range sessions {
		left, bad, err := (&pendingStore{filepath.Join(s.Dir, pendingName)}).list()
		require.NoError(t, err)
		assert.Empty(t, left)
		assert.Empty(t, bad)
	}
}

// victim runs this program as a runtime, which goes on with the last session if
// there is one.
func victim(t *testing.T, dir, step string, both bool) error {
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), victimEnv+"="+strconv.FormatBool(both), "VICTIM_DIR="+dir, "VICTIM_STEP="+step)
	out, err := c.CombinedOutput()
	if len(out) > 0 {
		t.Logf("%s", out)
	}
	return err
}

// playVictim is what this program does as a runtime.
func playVictim() int {
	if os.Getenv(victimEnv) == "soak" {
		return playSoak()
	}
	dir, step := os.Getenv("VICTIM_DIR"), os.Getenv("VICTIM_STEP")
	both, _ := strconv.ParseBool(os.Getenv(victimEnv))
	testOnlyStep = func(at string) {
		if at != step {
			return
		}
		if both {
			for _, pid := range supervisors(dir) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	if err := beVictim(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func beVictim(ctx context.Context, dir string) error {
	return beRuntime(ctx, dir, playGuest, func(s *Session, first bool) error {
		if !first {
			return nil
		}
		_, err := s.Submit(ctx, Task{Origin: provenance.User})
		return err
	})
}

// beRuntime goes on with the last session in dir, or starts the first one, and
// lets submit give it tasks.
func beRuntime(ctx context.Context, dir string, guest func(*Session, *task) outcome, submit func(*Session, bool) error) error {
	rt, err := New(Options{StateDir: filepath.Join(dir, "state"), CacheDir: filepath.Join(dir, "cache")})
	if err != nil {
		return err
	}
	m := capsule.Default()
	m.Name, m.Version = "victim", "1"
	m.Capabilities.Shell.Allow = []string{"bash"}
	m.Lifecycle.TaskAcceptance, m.Lifecycle.AfterTask = capsule.AcceptQueue, capsule.AfterSleep
	o := SessionOptions{Workdir: filepath.Join(dir, "work"), testOnlyWorker: scripted(guest)}
	earlier, err := Sessions(rt.StateDir())
	if err != nil {
		return err
	}
	if len(earlier) > 0 {
		o.Resume = earlier[len(earlier)-1].ID
	}
	s, err := rt.Start(ctx, &Capsule{manifest: &m}, o)
	if err != nil {
		return err
	}
	if err := submit(s, len(earlier) == 0); err != nil {
		return err
	}
	return errors.Join(s.WaitIdle(ctx), rt.Close())
}

// playGuest starts one command in the background, and notes the completions that
// it gets.
func playGuest(s *Session, t *task) outcome {
	if t.delivery == nil {
		s.runCommand(t, request{shell.Request{Binary: "bash", Command: "echo ran >> runs; sleep 0.2", Background: true}})
		return answered("", false)
	}
	line := "first"
	if t.repeated {
		line = "repeated"
	}
	return taken(note(s, "taken", line))
}

// playSoak asks for so many commands, each as a task of its own, and notes what
// it is told of them.
func playSoak() int {
	ctx := context.Background()
	commands, err := strconv.Atoi(os.Getenv("VICTIM_COMMANDS"))
	if err == nil {
		err = beRuntime(ctx, os.Getenv("VICTIM_DIR"), soakGuest, func(s *Session, _ bool) error {
			for range commands {
				if _, err := s.SubmitWhenAdmitted(ctx, Task{Origin: provenance.User}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// soakGuest names each command by its task. Some commands end at once, some in
// the background.
func soakGuest(s *Session, t *task) outcome {
	if t.delivery == nil {
		if err := note(s, "asked", t.id); err != nil {
			return broken(err)
		}
		length := []string{"", "; sleep 0.05", "; sleep 0.3"}[int(t.id[len(t.id)-1])%3]
		s.runCommand(t, request{shell.Request{
			Binary: "bash", Command: "echo " + t.id + " >> runs" + length, Background: length != "",
		}})
		if length == "" {
			return taken(note(s, "told", t.id))
		}
		return answered("", false)
	}
	_, rest, _ := strings.Cut(t.message, "echo ")
	id, _, _ := strings.Cut(rest, " ")
	return taken(note(s, "told", id))
}

func taken(err error) outcome {
	if err != nil {
		return broken(err)
	}
	return answered("", false)
}

// note adds a line to a file in the workdir, in one write.
func note(s *Session, name, line string) error {
	f, err := s.workdir.Root().OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// supervisors are the processes that supervise a session below dir.
func supervisors(dir string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if strings.HasPrefix(string(args), "murmur-supervisor") && strings.Contains(string(args), dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func killSupervisors(t *testing.T, dir string) {
	for _, pid := range supervisors(dir) {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// A task that the runtime died with is run again, and says so, only if it had
// started no command; else it is interrupted.
func TestCrash_runningTask(t *testing.T) {
	for _, tt := range []struct {
		step      string
		again     bool
		exitState string
	}{
		{"given api", true, ""},
		{"started", false, trace.StatusInterrupted},
	} {
		t.Run(tt.step, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "work"), 0o700))
			t.Cleanup(func() { killSupervisors(t, dir) })
			require.Error(t, victim(t, dir, tt.step, false))
			require.NoError(t, victim(t, dir, "", false))
			sessions, err := Sessions(filepath.Join(dir, "state"))
			require.NoError(t, err)
			require.Len(t, sessions, 2)
			var ends, repeated []string
			for _, s := range sessions {
				events, problems, err := ReadTrace(s.TracePath())
				require.NoError(t, err)
				require.Empty(t, problems)
				for _, e := range events {
					if e.Type == trace.TaskEnd && e.ExitStatus == trace.StatusInterrupted {
						ends = append(ends, e.ExitStatus)
						require.NotNil(t, e.DurationMS)
						assert.LessOrEqual(t, *e.DurationMS, e.Timestamp-s.Started.UnixMilli())
						assert.Equal(t, trace.Int(1), e.ShellCalls)
					}
					if e.Type == trace.TaskStart && e.Source == SourceAPI && e.Repeated {
						repeated = append(repeated, e.TaskID)
					}
				}
			}
			assert.Equal(t, tt.again, len(repeated) == 1)
			assert.Equal(t, tt.exitState != "", len(ends) == 1)
		})
	}
}
