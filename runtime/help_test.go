package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/murmur-capsule/murmur/capsule"
	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// victimEnv makes this test program a runtime that dies at a step.
const victimEnv = "MURMUR_TEST_VICTIM"

func TestMain(m *testing.M) {
	Hook()
	if os.Getenv(victimEnv) != "" {
		os.Exit(playVictim())
	}
	goleak.VerifyTestMain(m)
}

// A rig is a runtime with what a test looks at.
type rig struct {
	*testing.T
	rt  *Runtime
	log *syncBuffer
	// gates is a directory beside the workdirs that commands may write to.
	gates string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	log := &syncBuffer{}
	rt, err := New(Options{StateDir: filepath.Join(t.TempDir(), "state"), CacheDir: fixtures.RuntimeCache(t), Log: log})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, rt.Close())
		idleSupervisorsLeave(t, rt.state)
	})
	return &rig{t, rt, log, t.TempDir()}
}

// idleSupervisorsLeave waits for the supervisors that have no command any more:
// the last that they write is not to meet the removal of their directory.
func idleSupervisorsLeave(t *testing.T, state stateDir) {
	dirs, err := filepath.Glob(filepath.Join(state.sessions(), "*"))
	require.NoError(t, err)
	for _, dir := range dirs {
		busy := func(c supervisor.Command) bool { return !c.Ended }
		left := func() bool {
			if !supervisor.Alive(dir) {
				return true
			}
			living, err := livingCommands(context.Background(), dir)
			return err == nil && slices.ContainsFunc(living, busy)
		}
		require.Eventually(t, left, time.Minute, 10*time.Millisecond)
	}
}

// load loads a fixture with a changed manifest.
func (r *rig) load(name string, edit ...func(*capsule.Manifest)) *Capsule {
	r.Helper()
	m, err := capsule.Load(fixtures.Dir(r, name))
	require.NoError(r, err)
	m.Capabilities.Filesystem.Write = []string{r.gates}
	for _, f := range edit {
		f(m)
	}
	c, err := r.rt.Load(r.Context(), m)
	require.NoError(r, err)
	return c
}

func (r *rig) start(c *Capsule, o SessionOptions) *run {
	r.Helper()
	events := &eventLog{changed: make(chan struct{})}
	o.OnEvent = events.add
	s, err := r.rt.Start(r.Context(), c, o)
	require.NoError(r, err)
	return &run{r, s, events}
}

// A run is a session with its events.
type run struct {
	*rig
	s      *Session
	events *eventLog
}

func (r *run) do(message string) TaskResult {
	r.Helper()
	return r.wait(r.submit(provenance.User, message))
}

func (r *run) submit(origin provenance.Origin, message string) *Ticket {
	r.Helper()
	ticket, err := r.s.SubmitWhenAdmitted(r.Context(), Task{Origin: origin, Message: message})
	require.NoError(r, err)
	return ticket
}

func (r *run) wait(ticket *Ticket) TaskResult {
	r.Helper()
	res, err := ticket.Wait(r.Context())
	require.NoError(r, err)
	return res
}

func (r *run) idle() {
	r.Helper()
	require.NoError(r, r.s.WaitIdle(r.Context()))
}

func (r *run) end() {
	r.Helper()
	r.s.End()
	require.NoError(r, r.s.Wait(r.Context()))
}

// A toolResult is what the fixture "runner" answers.
type toolResult struct {
	Status    string            `json:"status"`
	Summary   string            `json:"summary"`
	Data      string            `json:"data"`
	DataPath  string            `json:"data_path"`
	Truncated bool              `json:"truncated"`
	Metadata  map[string]string `json:"metadata"`
}

func (r *run) tool(res TaskResult) toolResult {
	r.Helper()
	var out toolResult
	require.Equal(r, StatusOK, res.Status, res.Result)
	require.NoError(r, json.Unmarshal([]byte(res.Result), &out), res.Result)
	return out
}

// An eventLog holds a session's events, and lets a test wait for one.
type eventLog struct {
	mu      sync.Mutex
	all     []Event
	changed chan struct{}
}

func (l *eventLog) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *eventLog) snapshot() ([]Event, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Event(nil), l.all...), l.changed
}

func (l *eventLog) of(kind string) []Event {
	all, _ := l.snapshot()
	var found []Event
	for _, e := range all {
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

// await waits for the n-th event of a kind.
func (r *run) await(kind string, n int) Event {
	r.Helper()
	for {
		_, changed := r.events.snapshot()
		if found := r.events.of(kind); len(found) >= n {
			return found[n-1]
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			r.Fatalf("the session ended without event %d of %s", n, kind)
		}
	}
}

// kinds are the types of the events so far, in order.
func (l *eventLog) kinds() []string {
	all, _ := l.snapshot()
	kinds := make([]string, len(all))
	for i, e := range all {
		kinds[i] = e.Type
	}
	return kinds
}

// command is a command that waits at the gate and then runs the rest.
func (g gate) command(rest string) string { return "read x < " + g.path + "; " + rest }

// open lets one waiting command go on. It waits until one is there.
func (g gate) open(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(g.path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("go\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// atOnce makes every command that does not end at once a background one.
func atOnce(m *capsule.Manifest) { m.Lifecycle.ShellGraceSecs = 0 }

func (r *run) file(name string) string {
	r.Helper()
	data, err := os.ReadFile(filepath.Join(r.s.Workdir(), name))
	require.NoError(r, err)
	return string(data)
}

func lines(text string) []string { return strings.Split(text, "\n") }
