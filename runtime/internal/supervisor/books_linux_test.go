package supervisor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// The journal is rewritten while commands end and get their records: nobody waits
// for another for ever, and every one is in the new journal or on disk.
func TestBooks_RewrittenWhileCommandsEnd(t *testing.T) {
	dir := t.TempDir()
	store, err := jobs.Open(filepath.Join(dir, jobsDir))
	require.NoError(t, err)
	j, err := openJournal(dir)
	require.NoError(t, err)
	s := &server{dir: dir, store: store, journal: j, log: t.Logf, commands: map[string]*command{}, session: Session{
		ID: "ses_1", Capsule: "demo", Workdir: "/w",
	}}
	const commands = 16
	var ending sync.WaitGroup
	for n := range commands {
		c := s.newCommand(shell.Launch{Name: fmt.Sprintf("run_%02d", n)})
		require.NoError(t, s.enlist(c))
		require.NoError(t, s.write(entry{Step: stepLaunched, Launch: c.name(), Record: &c.rec, Streams: &c.streams}))
		ending.Go(func() {
			assert.NoError(t, c.demote(s, ids.Work.New(), false))
			c.end(s, shell.Exit{Code: n}, shell.Output{})
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ending.Wait()
	}()
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		default:
		}
		s.jmu.Lock()
		assert.NoError(t, s.rewriteJournal())
		s.jmu.Unlock()
	}
	handles, aside, err := store.List()
	require.NoError(t, err)
	assert.Empty(t, aside)
	assert.Len(t, handles, commands)
	a, err := readJournal(dir)
	require.NoError(t, err)
	assert.Zero(t, a.owed(), "what is on disk is not told again")
	require.NoError(t, j.remove())
}

// What a command in the foreground wrote is kept while its task runs, and no
// longer than it can be asked for.
func TestBooks_OutputOfSettledCommands(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	captured := func() (names []string) {
		entries, err := os.ReadDir(filepath.Join(b.dir, "out"))
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	run := func(task string) {
		l := b.launch("echo out; echo err >&2")
		l.Task = task
		p, err := r.Start(t.Context(), l)
		require.NoError(t, err)
		await(t, "the end", p.Ended())
	}
	require.NoError(t, r.Task("tsk_1"))
	run("tsk_1")
	run("tsk_1")
	assert.Len(t, captured(), 4, "the runtime may still die of what comes next")
	require.NoError(t, r.Task(""))
	require.Eventually(t, func() bool { return len(captured()) == 0 }, time.Minute, 10*time.Millisecond)
	owes, err := Owes(b.dir)
	require.NoError(t, err)
	assert.False(t, owes, "should all processes be killed now, nothing is told again")
	require.NoError(t, r.Task("tsk_2"))
	run("tsk_2")
	owes, err = Owes(b.dir)
	require.NoError(t, err)
	assert.True(t, owes)
	assert.Len(t, captured(), 2)
	demoted := b.launch("echo kept")
	demoted.Task = "tsk_2"
	p, err := r.Start(t.Context(), demoted)
	require.NoError(t, err)
	require.NoError(t, p.(shell.Durable).Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()}))
	await(t, "the end", p.Ended())
	require.NoError(t, r.Task(""))
	require.NoError(t, r.Close())
	b.waitLeft()
	names := captured()
	require.Len(t, names, 1)
	assert.True(t, strings.HasPrefix(names[0], demoted.Name), "that of a background command goes with its record")
}

// A request as large as it may be arrives; one that no frame holds is refused, and
// costs nobody else the connection.
func TestRunner_LargeLaunches(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	pid := r.PID()
	l := b.launch("wc -c")
	l.Stdin = make([]byte, shell.MaxRequest)
	p, err := r.Start(t.Context(), l)
	require.NoError(t, err)
	await(t, "the end", p.Ended())
	assert.Equal(t, fmt.Sprintln(shell.MaxRequest), slurp(t, p.Output().StdoutPath))

	l = b.launch("true")
	l.Stdin = make([]byte, maxFrame)
	_, err = r.Start(t.Context(), l)
	require.ErrorIs(t, err, errFrameSize)
	await(t, "the end", b.start(r, "true").Ended())
	assert.Equal(t, pid, r.PID())
}
