package shell

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(nobodyEnv); name != "" {
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}

// A bench is a capsule's shell in a test: a workdir, a policy and a runner.
type bench struct {
	t      *testing.T
	policy *Policy
	runner *InProcess
	dir    string // the workdir
	out    string // the directory for captured streams
}

// newName names a launch. What bears its name is its own to end, so that other
// test processes must not have it.
func newName() string { return ids.Kind("cmd_").New() }

// newBench makes one. Change, if not nil, changes what the capsule may do.
func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), out: t.TempDir()}
	w, err := OpenWorkdir(b.dir)
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	config := Config{
		Allow:   []string{"bash", "sh", "true", "cat", "env", "printf", "ls"},
		OutDir:  b.out,
		Workdir: w,
	}
	if change != nil {
		change(&config)
	}
	b.policy, err = NewPolicy(config)
	require.NoError(t, err)
	b.runner, err = NewInProcess(Options{})
	require.NoError(t, err)
	t.Cleanup(func() { b.runner.Close() })
	return b
}

// launch prepares a request.
func (b *bench) launch(request string) (Request, Launch, error) {
	r, err := Parse([]byte(request))
	if err != nil {
		return r, Launch{}, err
	}
	l, err := b.policy.Prepare(r, newName(), "tsk_1")
	return r, l, err
}

// bash is the request for a bash command, with more fields if any.
func bash(command string, fields ...string) string {
	text, _ := json.Marshal(command)
	return `{"binary":"bash","command":` + string(text) + strings.Join(append([]string{""}, fields...), ",") + `}`
}

// start starts a request. Nothing of it lives when the test is over.
func (b *bench) start(request string) (Request, *Command) {
	b.t.Helper()
	r, l, err := b.launch(request)
	require.NoError(b.t, err)
	p, err := b.runner.Start(context.Background(), l)
	require.NoError(b.t, err)
	c := p.(*Command)
	b.t.Cleanup(func() {
		c.Stop(context.Background(), ReasonKilled)
		<-c.Ended()
		proctree.Tree{Leader: c.Identity(), Mark: l.Name}.Teardown(context.Background())
	})
	return r, c
}

// run runs a request to its end and shows it.
func (b *bench) run(request string) (Result, *Command) {
	b.t.Helper()
	r, c := b.start(request)
	<-c.Ended()
	return Foreground(b.policy.config.Workdir, r, c), c
}

func (r Result) get(key string) string {
	for _, p := range r.Metadata {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// sections returns what a result shows of both streams.
func (r Result) sections(t *testing.T) (stdout, stderr string) {
	t.Helper()
	_, rest, ok := strings.Cut(*r.Data, "\nStdout:\n")
	require.True(t, ok, "%s", *r.Data)
	i := strings.LastIndex(rest, "Stderr:\n")
	require.GreaterOrEqual(t, i, 0)
	return rest[:i], rest[i+len("Stderr:\n"):]
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// gate makes a FIFO in the workdir. A command that reads from it goes on when
// it is opened; one that writes to it is waited for by await.
func (b *bench) gate(name string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(b.t, unix.Mkfifo(path, 0o600))
	return path
}

func openGate(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	f.Close()
}

func await(t *testing.T, path string) string {
	t.Helper()
	return strings.TrimSpace(read(t, path))
}

// living returns the names of the processes that bear the mark of c.
func living(t *testing.T, c *Command, name string) []string {
	t.Helper()
	procs, _, err := proctree.Tree{Leader: c.Identity(), Mark: name}.Members()
	require.NoError(t, err)
	var names []string
	for _, p := range procs {
		names = append(names, p.Name)
	}
	return names
}

func (c *Command) mark() string {
	return strings.TrimSuffix(filepath.Base(c.Output().StdoutPath), ".stdout")
}

func running(c *Command) bool {
	select {
	case <-c.Ended():
		return false
	default:
		return true
	}
}

// long stands for a time that no test reaches.
const long = "600"

// waitFor waits until a process has exited.
func waitFor(id proctree.Identity) error {
	h, err := proctree.Open(id)
	if v := (*proctree.VerdictError)(nil); errors.As(err, &v) && v.Verdict == proctree.Gone {
		return nil
	}
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Wait(context.Background())
}
