package supervisor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

func makeFIFO(t testing.TB, path string) string {
	t.Helper()
	require.NoError(t, unix.Mkfifo(path, 0o600))
	return path
}

func TestRunner_Foreground(t *testing.T) {
	tests := []struct {
		name, command  string
		code           int
		signal         string
		stdout, stderr string
	}{
		{"output", "echo out; echo err >&2", 0, "", "out\n", "err\n"},
		{"exit code", "exit 7", 7, "", "", ""},
		{"a signal of its own", "kill -9 $$", 137, "SIGKILL", "", ""},
		{"a signal below", "exec 2>/dev/null; sh -c 'kill -9 $$'; exit $?", 137, "", "", ""},
		{"a background process holds it", "(for i in 1 2 3; do sleep .05; echo $i; done) & exit 0", 0, "", "1\n2\n3\n", ""},
		{"no environment of the host", "env | cut -d= -f1 | sort | tr '\\n' ' '", 0, "", "MURMUR_WORK PATH PWD SHLVL _ ", ""},
		{"no descriptor but three", "ls /proc/self/fd | tr '\\n' ' '", 0, "", "0 1 2 3 ", ""},
		{"no terminal, no input", "read x < /dev/tty; cat", 0, "", "", "bash: line 1: /dev/tty: No such device or address\n"},
		{"default signal dispositions", "grep -E '^Sig(Ign|Blk)' /proc/self/status", 0, "", "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", ""},
	}
	b := newBench(t)
	r := b.connect()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := b.start(r, tt.command)
			await(t, "the end", p.Ended())
			e, o := p.Exit(), p.Output()
			assert.Equal(t, tt.code, e.Code)
			assert.Equal(t, tt.signal, e.Signal)
			assert.Empty(t, e.Reason)
			assert.Equal(t, tt.stdout, slurp(t, o.StdoutPath))
			assert.Equal(t, tt.stderr, slurp(t, o.StderrPath))
			assert.EqualValues(t, len(tt.stdout), o.StdoutBytes)
			p.Settle()
		})
	}
	assert.Empty(t, b.records(r), "a foreground command leaves no record")
}

func TestRunner_Stdin(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	l := b.launch("wc -c")
	l.Stdin = []byte(strings.Repeat("x", 3<<20))
	p, err := r.Start(t.Context(), l)
	require.NoError(t, err)
	await(t, "the end", p.Ended())
	assert.Equal(t, "3145728\n", slurp(t, p.Output().StdoutPath))
}

func TestRunner_RefusesWhatCannotStart(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	for name, change := range map[string]func(*shell.Launch){
		"no such binary":   func(l *shell.Launch) { l.Path = "/no/such" },
		"directory gone":   func(l *shell.Launch) { l.Dir = "/no/such" },
		"no directory":     func(l *shell.Launch) { l.OutDir = "/no/such" },
		"another's task":   func(l *shell.Launch) { l.Task = "tsk_other" },
		"no name":          func(l *shell.Launch) { l.Name = "" },
		"name with a path": func(l *shell.Launch) { l.Name = "../x" },
	} {
		l := b.launch("true")
		change(&l)
		_, err := r.Start(t.Context(), l)
		assert.Error(t, err, name)
	}
	l := b.launch("true")
	l.Path = "/no/such"
	_, err := r.Start(t.Context(), l)
	assert.ErrorIs(t, err, os.ErrNotExist, "the cause crosses the socket")

	// The supervisor is none the worse for it, and runs nothing twice.
	l = b.launch("true")
	p, err := r.Start(t.Context(), l)
	require.NoError(t, err)
	await(t, "the end", p.Ended())
	_, err = r.Start(t.Context(), l)
	assert.ErrorContains(t, err, "twice")
}

func TestRunner_TaskIsChecked(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	require.NoError(t, r.Task("tsk_1"))
	l := b.launch("true")
	_, err := r.Start(t.Context(), l)
	require.ErrorContains(t, err, "current task")
	l.Task = "tsk_1"
	p, err := r.Start(t.Context(), l)
	require.NoError(t, err)
	await(t, "the end", p.Ended())

	// The next task settles what the last one saw to its end.
	require.NoError(t, r.Task("tsk_2"))
	_, err = r.Start(t.Context(), l)
	require.Error(t, err)
	require.NoError(t, r.Close())
	b.waitLeft()
	assert.Empty(t, b.records(nil))
}

func TestRunner_Limit(t *testing.T) {
	b := newBench(t)
	b.o.MaxRunning = 1
	r := b.connect()
	p := b.start(r, "sleep 60")
	_, err := r.Start(t.Context(), b.launch("true"))
	var busy *shell.BusyError
	require.ErrorAs(t, err, &busy)
	require.NoError(t, p.Stop(t.Context(), shell.ReasonKilled))
	assert.Equal(t, shell.ReasonKilled, p.Exit().Reason)
	await(t, "the end", b.start(r, "true").Ended())
}

func TestRunner_MaxRuntime(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	l := b.launch("setsid sleep 48 & trap '' TERM; sleep 49; sleep 49")
	l.MaxRuntime = 200 * time.Millisecond
	p, err := r.Start(t.Context(), l)
	require.NoError(t, err)
	await(t, "the end", p.Ended())
	assert.Equal(t, shell.ReasonTimedOut, p.Exit().Reason)
	assert.Equal(t, -1, p.Exit().Code)
	assert.Empty(t, p.Exit().Survivors)
}

func TestRunner_DemotedIsDurable(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	g := b.gate("go")
	l := b.launch("echo before; read x < go; echo after; exit 3")
	l.ContextID, l.Origin, l.Trust = "ctx_1", "user", "trusted"
	started, err := r.Start(t.Context(), l)
	require.NoError(t, err)
	p := started.(shell.Durable)
	work := ids.Work.New()
	require.NoError(t, p.Demote(t.Context(), shell.Demotion{WorkID: work}))
	require.NoError(t, p.Demote(t.Context(), shell.Demotion{WorkID: work}), "it may be repeated")

	records := b.records(r)
	require.Len(t, records, 1)
	rec := records[0]
	assert.Equal(t, jobs.Running, rec.State)
	assert.Equal(t, work, rec.WorkID)
	assert.Equal(t, []string{"ses_1", "demo", "ctx_1", "user", "trusted", l.Text, "/bin/bash"},
		[]string{rec.Session, rec.Capsule, rec.ContextID, rec.Origin, rec.Trust, rec.Command, rec.Binary})
	assert.Equal(t, jobs.Owned, Host{}.Verify(rec.Identity))
	assert.False(t, rec.Implicit)

	g.open()
	await(t, "the end", p.Ended())
	rec = b.records(r)[0]
	assert.Equal(t, jobs.Finished, rec.State)
	assert.Equal(t, 3, rec.Outcome.ExitCode)
	assert.EqualValues(t, len("before\nafter\n"), rec.Output.StdoutBytes)
}

// A runtime that goes away demotes everything that it did not settle.
func TestRunner_ADropIsADemotion(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	g := b.gate("go")
	running := b.start(r, "read x < go; echo survived")
	unsettled := b.start(r, "exit 4")
	await(t, "the end", unsettled.Ended())
	settled := b.start(r, "true")
	await(t, "the end", settled.Ended())
	settled.Settle()
	require.NoError(t, r.Close())
	select {
	case <-running.Ended():
		assert.Fail(t, "a closed runner ends nothing")
	default:
	}

	missed := make(chan struct{}, 10)
	b.o.Missed = func() { missed <- struct{}{} }
	next := b.connect()
	assert.Equal(t, r.o.Session, next.o.Session)
	records := b.records(next)
	require.Len(t, records, 2)
	assert.Equal(t, jobs.Running, records[0].State)
	assert.True(t, records[0].Implicit)
	assert.Equal(t, 4, records[1].Outcome.ExitCode)

	g.open()
	await(t, "word of the end", missed)
	rec := b.records(next)[0]
	assert.Equal(t, 0, rec.Outcome.ExitCode)
	assert.Equal(t, "survived\n", slurp(t, rec.Output.StdoutPath))
}

func TestConnect_TheSecondRuntimeIsRefused(t *testing.T) {
	b := newBench(t)
	b.connect()
	_, err := Connect(t.Context(), b.o)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	assert.Equal(t, os.Getpid(), busy.PID)
}

func TestConnect_WithoutTheHook(t *testing.T) {
	b := newBench(t)
	hooked.Store(false)
	defer hooked.Store(true)
	_, err := Connect(t.Context(), b.o)
	assert.ErrorIs(t, err, ErrNoHook)
}

func TestTakeover_Nothing(t *testing.T) {
	b := newBench(t)
	_, err := Takeover(t.Context(), b.o)
	require.ErrorIs(t, err, ErrNone)
	_, err = Dial(b.dir, nil)
	require.ErrorIs(t, err, ErrNone)
	assert.False(t, Alive(b.dir))

	r := b.connect()
	assert.True(t, Alive(b.dir))
	require.NoError(t, r.Close())
	b.waitLeft()
	_, err = Takeover(t.Context(), b.o)
	require.ErrorIs(t, err, ErrNone, "a supervisor that left owes nothing")
}

func TestSupervisor_LongPath(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(b.dir, strings.Repeat("long/", 40))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "out"), 0o700))
	b.dir, b.o.Dir = dir, dir
	r := b.connect()
	await(t, "the end", b.start(r, "true").Ended())
	op, err := Dial(dir, nil)
	require.NoError(t, err)
	require.NoError(t, op.Close())
	require.NoError(t, r.Close())
	b.waitLeft()
}

func TestOperator(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	ended := make(chan struct{}, 10)
	op, err := Dial(b.dir, func() { ended <- struct{}{} })
	require.NoError(t, err)
	assert.Equal(t, r.PID(), op.PID())
	p, q := b.start(r, "sleep 61"), b.start(r, "sleep 62")
	require.NoError(t, p.Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()}))
	list, err := op.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)

	store := b.store()
	handles, _, err := store.List()
	require.NoError(t, err)
	require.Len(t, handles, 1)
	pass := jobs.Pass{Processes: Host{}, Supervisor: op, Now: time.Now()}
	h, err := handles[0].Stop(t.Context(), pass)
	require.NoError(t, err)
	assert.Equal(t, jobs.Killed, h.Record().Outcome.Reason)
	await(t, "the runtime's word", p.Ended())
	await(t, "the operator's word", ended)

	assert.ErrorContains(t, op.Stop(t.Context(), list[1].Launch, "not its nonce"), ErrUnknown.Error())
	require.NoError(t, op.Stop(t.Context(), list[1].Launch, ""))
	await(t, "the end", q.Ended())
	q.Settle()
	require.NoError(t, op.Close())
	_, err = op.List(context.Background())
	assert.ErrorIs(t, err, ErrLost)
}

func TestSupervisor_ProcessHygiene(t *testing.T) {
	b := newBench(t)
	// A descriptor that leaks must not be held by a process that outlives us.
	fds := make([]int, 2)
	require.NoError(t, unix.Pipe(fds))
	defer unix.Close(fds[0])
	r := b.connect()
	require.NoError(t, unix.Close(fds[1]))
	n, err := unix.Read(fds[0], make([]byte, 1))
	require.NoError(t, err)
	assert.Zero(t, n, "the end of the pipe is not kept open")

	proc := filepath.Join("/proc", itoa(r.PID()))
	environ, err := os.ReadFile(filepath.Join(proc, "environ"))
	require.NoError(t, err)
	assert.Equal(t, strings.Join(childEnv(), "\x00")+"\x00", string(environ))
	sid, err := unix.Getsid(r.PID())
	require.NoError(t, err)
	assert.Equal(t, r.PID(), sid)
	for fd, want := range map[string]string{"0": "/dev/null", "1": "/dev/null", "2": filepath.Join(b.dir, logName)} {
		got, err := os.Readlink(filepath.Join(proc, "fd", fd))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	info, err := os.Stat(filepath.Join(b.dir, socketName))
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077)
}

// Commands make files with the modes that they would have without a supervisor;
// its own have theirs.
func TestRunner_Umask(t *testing.T) {
	defer unix.Umask(unix.Umask(0o027))
	b := newBench(t)
	out, _ := b.outputOf(b.connect(), "umask")
	assert.Equal(t, "0027\n", out)
	for _, name := range []string{journalFile, lockName, logName} {
		info, err := os.Stat(filepath.Join(b.dir, name))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
}
