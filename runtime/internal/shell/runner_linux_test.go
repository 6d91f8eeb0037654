package shell

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

func TestStdinText(t *testing.T) {
	b := newBench(t, nil)
	for _, text := range []string{"", "x", strings.Repeat("line\n", 100_000)} {
		_, l, err := b.launch(bash("cat; echo no >&0"))
		require.NoError(t, err)
		l.Stdin = []byte(text)
		p, err := b.runner.Start(context.Background(), l)
		require.NoError(t, err)
		<-p.Ended()
		require.Equal(t, int64(len(text)), p.Output().StdoutBytes)
		if text != "" {
			require.Equal(t, text, read(t, p.Output().StdoutPath))
		}
		require.Contains(t, read(t, p.Output().StderrPath), "write error", "it can only be read")
	}
}

// TestDescriptors: a command has the first three and no other, whatever this
// process has open.
func TestDescriptors(t *testing.T) {
	leak, err := unix.Open("/etc/passwd", unix.O_RDONLY, 0)
	require.NoError(t, err)
	defer unix.Close(leak)
	b := newBench(t, nil)
	res, _ := b.run(`{"binary":"ls","args":["/proc/self/fd"]}`)
	stdout, _ := res.sections(t)
	require.Equal(t, "0\n1\n2\n3\n", stdout, "the last is of the directory that ls reads")
}

func TestSessionOfItsOwn(t *testing.T) {
	b := newBench(t, nil)
	_, c := b.run(bash(`ps -o pid=,pgid=,sid= -p $$`))
	pid := strconv.Itoa(c.Identity().PID)
	require.Equal(t, []string{pid, pid, pid}, strings.Fields(read(t, c.Output().StdoutPath)))
	require.Equal(t, c.Identity().PID, c.Identity().PGID)
}

// The command waits until it has been marked: it may run before that.
func TestMemoryPressureMeetsTheCommandFirst(t *testing.T) {
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	require.NoError(t, err)
	before, err := strconv.Atoi(strings.TrimSpace(string(own)))
	require.NoError(t, err)
	b := newBench(t, nil)
	want := min(before+oomBias, 1000)
	_, c := b.run(bash(fmt.Sprintf(`until [ "$(cat /proc/$$/oom_score_adj)" = %d ]; do :; done; cat /proc/self/oom_score_adj`, want)))
	require.Equal(t, fmt.Sprintln(want), read(t, c.Output().StdoutPath), "what it starts inherits the mark")
}

func TestStop(t *testing.T) {
	b := newBench(t, nil)
	r, c := b.start(bash(`sleep ` + long + ` & sleep ` + long))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { assert.NoError(t, c.Stop(context.Background(), ReasonKilled)) })
	}
	all.Wait()
	<-c.Ended()
	require.Equal(t, ReasonKilled, c.Exit().Reason)
	require.Equal(t, -1, c.Exit().Code)
	require.Empty(t, c.Exit().Signal)
	require.Empty(t, living(t, c, c.mark()))
	exit := c.Exit()
	require.NoError(t, c.Stop(context.Background(), ReasonTimedOut))
	require.Equal(t, exit, c.Exit(), "the first reason stays")
	require.Contains(t, *Foreground(b.policy.config.Workdir, r, c).Summary, "killed")
}

func TestStopAfterTheEnd(t *testing.T) {
	b := newBench(t, nil)
	_, c := b.run(bash(`exit 6`))
	require.NoError(t, c.Stop(context.Background(), ReasonKilled))
	require.Equal(t, 6, c.Exit().Code)
	require.Empty(t, c.Exit().Reason)
}

func TestStopGoesOnWithoutItsCaller(t *testing.T) {
	b := newBench(t, nil)
	_, c := b.start(bash(`sleep ` + long))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Stop(ctx, ReasonKilled); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	<-c.Ended()
	require.Equal(t, ReasonKilled, c.Exit().Reason)
}

// TestExitOf covers what no command does at will.
func TestExitOf(t *testing.T) {
	proc := []proctree.Proc{{Identity: proctree.Identity{PID: 7}, Name: "x"}}
	named := []Survivor{{7, "x"}}
	for name, c := range map[string]struct {
		end  proctree.End
		err  error
		torn *tearing
		want Exit
	}{
		"it ended by itself":     {proctree.End{Status: 3 << 8, Left: proc}, nil, nil, Exit{Code: 3, LeftRunning: named}},
		"the stop came too late": {proctree.End{Status: 3 << 8}, nil, &tearing{why: ReasonKilled}, Exit{Code: 3}},
		"stopped":                {proctree.End{Status: 15}, nil, &tearing{why: ReasonKilled, outcome: proctree.Outcome{Signalled: 1}}, Exit{Code: -1, Reason: ReasonKilled}},
		"stopped, with survivors": {proctree.End{}, context.Canceled, &tearing{why: ReasonTimedOut, outcome: proctree.Outcome{Survivors: proc}},
			Exit{Code: -1, Reason: ReasonTimedOut, Survivors: named}},
		"the stop failed": {proctree.End{}, context.Canceled, &tearing{why: ReasonKilled, err: os.ErrPermission},
			Exit{Code: -1, Reason: ReasonKilled, WaitErr: os.ErrPermission.Error()}},
		"the end was not seen": {proctree.End{}, os.ErrPermission, nil, Exit{Code: -1, WaitErr: os.ErrPermission.Error()}},
	} {
		assert.Equal(t, c.want, exitOf(plainEnd(c.end.Status), c.end.Left, c.err, c.torn), name)
	}
}

// TestDaemonMeetsNoBrokenPipe: it writes after the command has ended, and lives.
func TestDaemonMeetsNoBrokenPipe(t *testing.T) {
	b := newBench(t, nil)
	b.gate("up")
	b.gate("go")
	b.gate("done")
	_, c := b.start(bash(`setsid bash -c 'echo >up; read x <go; yes | head -c 1000000; echo $? ${PIPESTATUS[0]} >done; read x <go' & echo mine`))
	await(t, filepath.Join(b.dir, "up"))
	<-c.Ended()
	require.Equal(t, "mine\n", read(t, c.Output().StdoutPath))
	openGate(t, filepath.Join(b.dir, "go"))
	require.Equal(t, "0 0", strings.Replace(await(t, filepath.Join(b.dir, "done")), "141", "0", 1))
	require.Equal(t, int64(5), c.Output().StdoutBytes, "what it writes is not the command's")
}

func TestDurationsCountFromTheSpawn(t *testing.T) {
	b := newBench(t, nil)
	before := time.Now()
	_, c := b.run(bash(`sleep .2`))
	require.False(t, c.Started().Before(before))
	require.GreaterOrEqual(t, c.Exit().Duration, 200*time.Millisecond)
}

// TestNoThreadAndLittleElsePerCommand starts many and counts.
func TestNoThreadPerCommand(t *testing.T) {
	b := newBench(t, nil)
	b.runner.slots = NewSlots(200)
	gate, err := os.OpenFile(b.gate("go"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer gate.Close()
	var all []*Command
	for range 100 {
		_, c := b.start(bash(`read x <go`))
		all = append(all, c)
	}
	before := threads(t)
	for range 100 {
		_, c := b.start(bash(`read x <go`))
		all = append(all, c)
	}
	require.LessOrEqual(t, threads(t), before+8)
	_, err = gate.WriteString(strings.Repeat("\n", len(all)))
	require.NoError(t, err)
	for _, c := range all {
		<-c.Ended()
	}
}

func threads(t *testing.T) int { return len(entries(t, "/proc/self/task")) }

func TestCaptureErrorIsShown(t *testing.T) {
	b := newBench(t, nil)
	b.gate("up")
	b.gate("go")
	r, c := b.start(bash(`echo >up; read x <go; echo text; exit 0`))
	await(t, filepath.Join(b.dir, "up"))
	require.NoError(t, os.RemoveAll(b.out))
	openGate(t, filepath.Join(b.dir, "go"))
	<-c.Ended()
	res := Foreground(b.policy.config.Workdir, r, c)
	assert.Equal(t, "0", res.get("exit_code"), "the command did not notice")
	assert.Contains(t, *res.Data, "capture_error: ")
	assert.True(t, res.Truncated)
}
