package supervisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// A command does not notice that its supervisor was killed: it is adopted, what
// it writes is on disk, and its end is reported without an exit code.
func TestSurvive_TheSupervisorIsKilled(t *testing.T) {
	b := newBench(t)
	lost := make(chan struct{}, 1)
	b.o.Log = func(string) { lost <- struct{}{} }
	r := b.connect()
	g := b.gate("go")
	p := b.start(r, "echo first; read x < go; head -c 300000 /dev/zero | tr '\\0' y; exit 0")
	old := r.PID()
	require.NoError(t, unix.Kill(old, unix.SIGKILL))
	await(t, "the loss", lost)
	assert.NotEqual(t, old, r.PID())
	require.NoError(t, p.Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()}))
	g.open()
	await(t, "the end", p.Ended())
	assert.Equal(t, shell.ReasonDied, p.Exit().Reason)
	assert.Equal(t, -1, p.Exit().Code)
	want := "first\n" + strings.Repeat("y", 300_000)
	assert.Equal(t, want, slurp(t, p.Output().StdoutPath))
	assert.EqualValues(t, len(want), p.Output().StdoutBytes)
	assert.Equal(t, jobs.Died, b.records(r)[0].Outcome.Reason)
}

func TestSurvive_AnAdoptedCommandCanBeStopped(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	p := b.start(r, "setsid sleep 71 & sleep 72")
	require.NoError(t, p.Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()}))
	require.NoError(t, unix.Kill(r.PID(), unix.SIGKILL))
	require.NoError(t, p.Stop(t.Context(), shell.ReasonKilled))
	assert.Equal(t, shell.ReasonKilled, p.Exit().Reason)
	assert.Empty(t, p.Exit().Survivors)
	assert.Equal(t, jobs.Killed, b.records(r)[0].Outcome.Reason)
}

func TestSurvive_AnAdoptedCommandMeetsItsLimit(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	l := b.launch("sleep 73")
	l.MaxRuntime = 300 * time.Millisecond
	p, err := r.Start(t.Context(), l)
	require.NoError(t, err)
	require.NoError(t, unix.Kill(r.PID(), unix.SIGKILL))
	await(t, "the end", p.Ended())
	assert.Equal(t, shell.ReasonTimedOut, p.Exit().Reason)
}

// What was settled before the supervisor died stays settled.
func TestSurvive_NothingIsToldTwice(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	settled, kept := b.start(r, "exit 1"), b.start(r, "exit 2")
	await(t, "the end", settled.Ended())
	await(t, "the end", kept.Ended())
	settled.Settle()
	require.NoError(t, unix.Kill(r.PID(), unix.SIGKILL))
	await(t, "the end", b.start(r, "true").Ended())
	assert.Empty(t, b.records(r), "the runtime is the same: nothing is orphaned")
	require.NoError(t, r.Close())
	b.waitLeft()
	records := b.records(nil)
	var codes []int
	for _, rec := range records {
		codes = append(codes, rec.Outcome.ExitCode)
	}
	assert.ElementsMatch(t, []int{2, 0}, codes)
}

// The program on disk may be replaced, or go, while a session runs.
func TestSurvive_TheProgramIsReplaced(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "runtime")
	data, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(copied, data, 0o700))
	c := newCrashTest(t, crash{step: stepTaken})
	c.plan.Unlink = copied
	c.release()
	cmd := exec.Command(copied)
	cmd.Env = append(os.Environ(), standInEnv+"="+c.writePlan())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.NoFileExists(t, copied)
	assert.Len(t, lines(t, filepath.Join(c.dir, "handled")), 1)
}

func TestSurvive_TermLetsItFinish(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	g := b.gate("go")
	p := b.start(r, "read x < go; exit 5")
	for _, sig := range []unix.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGPIPE, unix.SIGTERM} {
		require.NoError(t, unix.Kill(r.PID(), sig))
	}
	g.open()
	await(t, "the end", p.Ended())
	assert.Equal(t, 5, p.Exit().Code, "it is asked to leave, and leaves when it can")
	p.Settle()
	// The next command finds another supervisor.
	await(t, "the end", b.start(r, "true").Ended())
}

// Where the session's directory was removed nobody is left to account to: the
// supervisor ends with its last command, and does not try for ever.
func TestSurvive_TheDirectoryIsRemoved(t *testing.T) {
	b := newBench(t)
	r, err := Connect(t.Context(), b.o)
	require.NoError(t, err)
	// A gate each: two readers of one pipe may share what is written once.
	first, second := b.gate("first"), b.gate("second")
	demoted := b.start(r, "read x < first")
	b.start(r, "read x < second") // It loses its runtime.
	require.NoError(t, demoted.Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()}))
	id, err := proctree.Capture(r.PID())
	require.NoError(t, err)
	h, err := proctree.Open(id)
	require.NoError(t, err)
	defer h.Close()
	require.NoError(t, os.RemoveAll(b.dir))
	require.NoError(t, r.Close())
	first.open()
	second.open()
	require.NoError(t, h.Wait(t.Context()))
	require.NoError(t, os.MkdirAll(b.dir, 0o700)) // For the clean-up.
}

// A record whose pid is a bystander's by now is never acted upon. In a pid
// namespace of its own the kernel can be told which pid to give out next.
func TestSurvive_PIDReuse(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), pidReuseEnv+"="+t.TempDir())
	cmd.SysProcAttr = pidNamespace()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "the bystander lives\n", string(out))
}
