package runtime

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// What was taken is kept for the retention time and then goes by itself, in
// every session; what is owed, and the workdir's logs, stay.
func TestRetention(t *testing.T) {
	r := newRig(t)
	r.rt.opts.Retention = time.Hour
	g := r.gate()
	c := r.load("runner", atOnce)
	first := r.start(c, SessionOptions{})
	taken := first.tool(first.do("echo out; " + g.command("true"))).Metadata["work_id"]
	g.open(t)
	first.idle()
	owed := first.tool(first.do(g.command("true"))).Metadata["work_id"]
	log := first.events.of(trace.ShellCompleted)[0].OutputPath
	first.end()

	files := func(id string) []string {
		found, err := filepath.Glob(filepath.Join(first.s.Dir(), "jobs", id+"*"))
		require.NoError(t, err)
		return found
	}
	next := r.start(c, SessionOptions{})
	now := time.Now()
	require.NoError(t, next.s.durables.prune(now.Add(time.Hour-time.Minute)))
	assert.NotEmpty(t, files(taken), "it is not old enough")
	require.NoError(t, next.s.durables.prune(now.Add(time.Hour+time.Minute)))
	assert.Empty(t, files(taken))
	assert.NotEmpty(t, files(owed))
	assert.FileExists(t, filepath.Join(first.s.Workdir(), log))
	captured, err := os.ReadDir(filepath.Join(first.s.Dir(), "out"))
	require.NoError(t, err)
	assert.Empty(t, captured, "the second command has written nothing yet")
	next.end()
	for _, j := range r.jobs() {
		_, err := j.Stop(t.Context())
		require.NoError(t, err)
	}
}

// Without records nothing is kept of what a command wrote but its log, once the
// guest has taken its result.
func TestRetention_inProcess(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner", inProcess), SessionOptions{})
	s.do("echo here")
	s.do(`{"binary":"bash","command":"echo gone; echo wrong >&2","background":true}`)
	s.idle()
	captured, err := os.ReadDir(s.s.outDir())
	require.NoError(t, err)
	assert.Empty(t, captured)
	assert.Contains(t, s.file(s.events.of(trace.ShellCompleted)[0].OutputPath), "gone\nStderr:\nwrong\n")
	s.end()
}

// What commands in the foreground wrote goes with their tasks.
func TestRetention_ofTheForeground(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{})
	for range 3 {
		s.do("echo out; echo wrong >&2")
	}
	s.end()
	idleSupervisorsLeave(t, r.rt.state)
	captured, err := os.ReadDir(s.s.outDir())
	require.NoError(t, err)
	assert.Empty(t, captured)
}

// A session begins with removing what is too old.
func TestRetention_atStart(t *testing.T) {
	r := newRig(t)
	c := r.load("runner")
	first := r.start(c, SessionOptions{})
	first.do(`{"binary":"bash","command":"true","background":true}`)
	first.idle()
	first.end()
	require.Len(t, r.jobs(), 1)
	r.rt.opts.Retention = time.Nanosecond
	r.start(c, SessionOptions{}).end()
	assert.Empty(t, r.jobs())
}
