package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

func TestMain(m *testing.M) {
	armFailpoint()
	containment.Hook()
	Hook()
	if dir := os.Getenv(standInEnv); dir != "" {
		os.Exit(standIn(dir))
	}
	if dir := os.Getenv(pidReuseEnv); dir != "" {
		os.Exit(pidReuse(dir))
	}
	goleak.VerifyTestMain(m)
}

// bench is a session with its supervisor.
type bench struct {
	t   testing.TB
	dir string
	o   Options
}

func newBench(t testing.TB) *bench {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ses_1")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "out"), 0o700))
	b := &bench{t: t, dir: dir, o: Options{
		Dir: dir, MaxRunning: 10_000,
		Session: Session{ID: "ses_1", Capsule: "demo", OwnerUID: os.Geteuid(), Workdir: t.TempDir()},
		Log:     func(line string) { t.Log(line) },
	}}
	t.Cleanup(func() {
		b.waitLeft()
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(dir, logName))
			t.Logf("supervisor's log:\n%s", text)
		}
	})
	return b
}

// waitLeft returns when no supervisor of the session lives.
func (b *bench) waitLeft() {
	lock, err := takeLock(b.dir)
	require.NoError(b.t, err)
	require.NoError(b.t, lock.Close())
	children.reap()
}

func (b *bench) connect() *Runner {
	b.t.Helper()
	r, err := Connect(context.Background(), b.o)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { require.NoError(b.t, r.Close()) })
	return r
}

// launch is a bash command, named like a launch of the runtime's.
func (b *bench) launch(command string) shell.Launch {
	return shell.Launch{
		Path: "/bin/bash", Args: []string{"bash", "-c", command}, Env: []string{"PATH=/usr/bin:/bin"},
		Dir: b.o.Session.Workdir, MaxOutput: 1 << 20, OutDir: filepath.Join(b.dir, "out"),
		Name: "cmd_" + strings.TrimPrefix(ids.Work.New(), string(ids.Work)), Text: command,
		MaxRuntime: time.Minute,
	}
}

func (b *bench) start(r *Runner, command string) shell.Durable {
	b.t.Helper()
	p, err := r.Start(context.Background(), b.launch(command))
	require.NoError(b.t, err)
	return p.(shell.Durable)
}

func (b *bench) store() *jobs.Store {
	b.t.Helper()
	s, err := jobs.Open(filepath.Join(b.dir, jobsDir))
	require.NoError(b.t, err)
	return s
}

// records are the session's, reconciled as a new runtime would do it.
func (b *bench) records(sup jobs.Supervisor) []jobs.Record {
	b.t.Helper()
	s := b.store()
	_, err := s.Reconcile(context.Background(), jobs.Pass{Processes: Host{}, Supervisor: sup, Now: time.Now()})
	require.NoError(b.t, err)
	handles, aside, err := s.List()
	require.NoError(b.t, err)
	require.Empty(b.t, aside)
	var list []jobs.Record
	for _, h := range handles {
		list = append(list, h.Record())
	}
	return list
}

// slurp is the content of a file; one that is not there is empty.
func slurp(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	return string(data)
}

// await waits for what must happen; a test that waits in vain fails as a whole.
func await(t testing.TB, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(30 * time.Second):
		require.FailNow(t, "waited in vain", what)
	}
}

// gate is a named pipe by which a command and a test wait for each other.
type gate struct {
	t    testing.TB
	path string
}

func (b *bench) gate(name string) gate {
	return gate{b.t, makeFIFO(b.t, filepath.Join(b.o.Session.Workdir, name))}
}

// open lets a command go on that waits in `read < path`.
func (g gate) open() {
	g.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = os.WriteFile(g.path, []byte("go\n"), 0)
	}()
	await(g.t, g.path, done)
}
