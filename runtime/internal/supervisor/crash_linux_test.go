package supervisor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
)

// The environment of a supervisor is constant, so what a test wants of it lies
// in the session's directory: the name of a point in the file failpoint.
const failpointFile = "failpoint"

// armFailpoint makes a supervisor kill itself at the point that its session's
// directory names, once.
func armFailpoint() {
	if len(os.Args) != 2 || os.Args[0] != processName {
		return
	}
	path := os.Args[1] + "/" + failpointFile
	at, err := os.ReadFile(path)
	if err != nil {
		return
	}
	testOnlyFail = func(p point) {
		if string(at) != string(p) || os.Remove(path) != nil {
			return
		}
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		select {}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// crash is one cell of the matrix.
type crash struct {
	step       string
	supervisor bool // the supervisor dies there by itself
	both       bool
	// early says that the command must have ended for the step to be reached.
	early bool
}

func matrix() []crash {
	var list []crash
	for _, both := range []bool{false, true} {
		for _, p := range []point{pointLaunching, pointLaunched, pointForked, pointSpawned, pointDemoting, pointRecorded, pointEnded, pointExitRecorded} {
			list = append(list, crash{step: string(p), supervisor: true, both: both, early: p == pointEnded || p == pointExitRecorded})
		}
		for _, s := range []string{stepStarted, stepPromised, stepKnown, stepFinished, stepOffered, stepHandling, stepTaken} {
			list = append(list, crash{step: s, both: both, early: s != stepStarted && s != stepPromised})
		}
	}
	return list
}

func (c crash) String() string {
	switch {
	case c.both:
		return c.step + "/both"
	case c.supervisor:
		return c.step + "/supervisor"
	default:
		return c.step + "/runtime"
	}
}

// Whoever is killed, and whenever: the command ran at most once, and if it ran
// somebody was told of its end; a repetition says so; the store is whole.
func TestCrashMatrix(t *testing.T) {
	require.Len(t, matrix(), 30)
	for _, c := range matrix() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			newCrashTest(t, c).run()
		})
	}
}

type crashTest struct {
	*bench
	crash
	plan plan
	gate *os.File
}

func newCrashTest(t *testing.T, c crash) *crashTest {
	b := newBench(t)
	gate, err := os.OpenFile(makeFIFO(t, filepath.Join(b.o.Session.Workdir, "gate")), os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { gate.Close() })
	l := b.launch("echo $$ >> ran; read x < gate; echo done")
	l.Task = "tsk_1"
	return &crashTest{bench: b, crash: c, gate: gate, plan: plan{Dir: b.dir, Session: b.o.Session, Launch: l, Both: c.both}}
}

func (c *crashTest) run() {
	if c.supervisor {
		require.NoError(c.t, os.WriteFile(filepath.Join(c.dir, failpointFile), []byte(c.step), 0o600))
	} else {
		c.plan.Die = c.step
	}
	if c.early {
		c.release()
	}
	lost, started := c.standIn()
	if c.supervisor {
		assert.NoFileExists(c.t, filepath.Join(c.dir, failpointFile), "the point was passed")
	}
	c.recover()
	c.check(lost, started)
}

func (c *crashTest) release() {
	_, err := c.gate.WriteString("go\n")
	require.NoError(c.t, err)
}

func (c *crashTest) writePlan() string {
	path := filepath.Join(c.dir, "plan")
	data, err := json.Marshal(c.plan)
	require.NoError(c.t, err)
	require.NoError(c.t, os.WriteFile(path, data, 0o600))
	return path
}

// standIn runs the runtime to its death or its end.
func (c *crashTest) standIn() (lost, started bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), standInEnv+"="+c.writePlan())
	out, err := cmd.StdoutPipe()
	require.NoError(c.t, err)
	cmd.Stderr = os.Stderr
	require.NoError(c.t, cmd.Start())
	started = true
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch lines.Text() {
		case "lost":
			lost = true
			if !c.early {
				c.release()
			}
		case "not started":
			started = false
		default:
			c.t.Error(lines.Text())
		}
	}
	err = cmd.Wait()
	if c.plan.Die == "" && !c.both {
		assert.NoError(c.t, err)
	} else {
		assert.ErrorContains(c.t, err, "killed")
	}
	return lost, started
}

// recover is the next runtime.
func (c *crashTest) recover() {
	ended := make(chan struct{}, 10)
	o := c.o
	o.Missed = func() { ended <- struct{}{} }
	r, err := Takeover(context.Background(), o)
	var sup jobs.Supervisor
	if !errors.Is(err, ErrNone) {
		require.NoError(c.t, err)
		sup = r
		defer r.Close()
	}
	store := c.store()
	_, err = store.Retire(context.Background(), jobs.Pass{Processes: Host{}, Supervisor: sup, Now: time.Now()})
	require.NoError(c.t, err)
	if !c.early {
		c.release()
	}
	for {
		require.NoError(c.t, deliver(context.Background(), o, sup, func(string) {}))
		states := map[jobs.State]int{}
		for _, rec := range c.records(sup) {
			states[rec.State]++
		}
		if states[jobs.Running] > 0 {
			require.NotNil(c.t, sup, "a command runs and nobody watches it")
			await(c.t, "the end of the command", ended)
		} else if states[jobs.Finished]+states[jobs.Offered] == 0 {
			return
		}
	}
}

func (c *crashTest) check(lost, started bool) {
	t := c.t
	ran := lines(t, filepath.Join(c.o.Session.Workdir, "ran"))
	handled := lines(t, filepath.Join(c.dir, "handled"))
	assert.LessOrEqual(t, len(ran), 1, "the command ran twice")
	if len(ran) > 0 || started && c.step != string(pointLaunching) {
		assert.NotEmpty(t, handled, "the result is lost")
	} else {
		assert.Empty(t, ran, "a command that was refused ran")
		assert.Empty(t, handled)
	}
	last := 0
	for _, line := range handled {
		fields := strings.Fields(line)
		assert.Equal(t, c.plan.Launch.Name, fields[0])
		attempt, err := strconv.Atoi(fields[1])
		require.NoError(t, err)
		assert.Greater(t, attempt, last, "a repetition is marked")
		last = attempt
	}
	for _, r := range c.records(nil) {
		assert.Equal(t, jobs.Taken, r.State)
		if len(ran) > 0 {
			assert.Equal(t, "done\n", slurp(t, r.Output.StdoutPath), "no output is lost")
		}
	}
	if !c.supervisor && !c.both && len(handled) > 0 {
		assert.Len(t, strings.Fields(handled[0]), 2, "a supervisor that lived knows the exit code")
	}
	assert.Equal(t, c.supervisor && !c.both, lost)
	c.waitLeft()
	assert.NoFileExists(t, filepath.Join(c.dir, journalFile))
}

func lines(t testing.TB, path string) []string {
	t.Helper()
	return strings.FieldsFunc(slurp(t, path), func(r rune) bool { return r == '\n' })
}
