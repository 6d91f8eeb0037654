package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// collect removes what nobody needs, and tells how many sessions that were.
func (r *rig) collect(keep time.Duration) int {
	r.Helper()
	idleSupervisorsLeave(r.T, r.rt.state)
	got, problems, err := Collect(r.Context(), r.rt.StateDir(), keep)
	require.NoError(r, err)
	require.Empty(r, problems)
	return got.Sessions
}

// A process that dies while it starts a session leaves a directory that nothing
// is in.
func TestCollect_unborn(t *testing.T) {
	r := newRig(t)
	long := time.Now().Add(-time.Hour)
	unborn := func(name string) string {
		dir := r.rt.state.session(name)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "logs"), 0o700))
		require.NoError(t, os.Chtimes(dir, long, long))
		return dir
	}
	old, held, other := unborn(ids.Session.New()), unborn(ids.Session.New()), unborn("other")
	lock, err := lockSession(held)
	require.NoError(t, err)
	defer lock.release()
	require.NoError(t, os.Chtimes(held, long, long))
	fresh := r.rt.state.session(ids.Session.New())
	require.NoError(t, os.Mkdir(fresh, 0o700))

	got, problems, err := Collect(t.Context(), r.rt.StateDir(), 0)
	require.NoError(t, err)
	assert.Empty(t, problems)
	assert.Equal(t, 1, got.Sessions)
	assert.NoDirExists(t, old)
	for _, kept := range []string{held, other, fresh} {
		assert.DirExists(t, kept)
	}
}

// A session whose process died goes like one that ended: when it has been still
// for long enough, and owes nothing.
func TestCollect_died(t *testing.T) {
	owing := map[string]func(t *testing.T, dir string){
		"a task": func(t *testing.T, dir string) {
			id := ids.Task.New()
			put(t, filepath.Join(dir, pendingName, id+".json"),
				`{"version":1,"id":"`+id+`","context_id":"ctx_1","source":"api","origin":"user","trust":"trusted","message":""}`)
		},
		"a task that cannot be read": func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, pendingName, ids.Task.New()+".json"), strings.Repeat("\x00", 9))
		},
		"a task that was set aside": func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, pendingName, ids.Task.New()+".bad"), "")
		},
		"a journal that cannot be read": func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "journal"), strings.Repeat("\x00", 99))
		},
		"a launch without an account": func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "journal"), `{"step":"launched","launch":"run_1","record":{"launch":"run_1"}}`)
		},
		"a record that a newer build wrote": func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "jobs", "aside", "wrk_1.json.newer"), `{"version":99}`)
		},
		"word of a lost command": func(t *testing.T, dir string) {
			w, err := trace.Open(filepath.Join(dir, traceName), filepath.Base(dir), trace.Options{})
			require.NoError(t, err)
			require.NoError(t, w.Append(Event{Type: trace.ShellDetached, WorkID: "wrk_1"}))
			require.NoError(t, w.Close())
		},
	}
	died := func(t *testing.T) (*rig, string) {
		r := newRig(t)
		s := r.start(r.load("runner"), SessionOptions{})
		s.do("true")
		s.end()
		r.forgetEnd(s.s)
		return r, s.s.Dir()
	}
	t.Run("nothing", func(t *testing.T) {
		r, dir := died(t)
		assert.Zero(t, r.collect(time.Hour), "it has just died")
		assert.Equal(t, 1, r.collect(0))
		assert.NoDirExists(t, dir)
	})
	t.Run("nothing, long ago", func(t *testing.T) {
		r, dir := died(t)
		idleSupervisorsLeave(t, r.rt.state)
		f, err := readSessionFile(dir)
		require.NoError(t, err)
		f.StartedMS = 1
		require.NoError(t, f.write(dir))
		long := time.Now().Add(-2 * time.Hour)
		for _, name := range []string{sessionFileName, traceName} {
			require.NoError(t, os.Chtimes(filepath.Join(dir, name), long, long))
		}
		assert.Equal(t, 1, r.collect(time.Hour))
	})
	t.Run("somebody goes on with it", func(t *testing.T) {
		r, dir := died(t)
		info, err := sessionInfo(dir)
		require.NoError(t, err)
		lock, err := lockSession(dir)
		require.NoError(t, err)
		defer lock.release()
		var c Collected
		require.NoError(t, c.collect(info, 0), "looked at before it was taken")
		assert.Zero(t, c.Sessions)
		assert.Zero(t, r.collect(0))
	})
	for what, owe := range owing {
		t.Run(what, func(t *testing.T) {
			r, dir := died(t)
			idleSupervisorsLeave(t, r.rt.state)
			owe(t, dir)
			for range 3 { // Nor does looking at it settle anything.
				assert.Zero(t, r.collect(0))
			}
			assert.DirExists(t, dir)
		})
	}
}

// A session whose file was lost is not one that never began: what it owes, and
// what runs on, is shown and kept.
func TestCollect_lostSessionFile(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{})
	s.do("true")
	s.end()
	dir := s.s.Dir()
	idleSupervisorsLeave(t, r.rt.state)
	require.NoError(t, os.Remove(filepath.Join(dir, sessionFileName)))
	task := filepath.Join(dir, pendingName, ids.Task.New()+".json")
	put(t, task, "{}")
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(dir, long, long))

	assert.Zero(t, r.collect(0))
	assert.FileExists(t, task)
	list, err := Sessions(r.rt.StateDir())
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "runner", list[0].Capsule)
	assert.Contains(t, list[0].Damaged, sessionFileName)
	require.NoError(t, os.Remove(task))
	assert.Equal(t, 1, r.collect(0), "it owes nothing")
	assert.NoDirExists(t, dir)
}

// The books of a session that told of a forebear's lost commands stay with those
// of the forebear: without them they would be told again.
func TestCollect_keepsTheLine(t *testing.T) {
	r := newRig(t)
	c := r.load("runner", atOnce, inProcess)
	g := r.gate()
	first := r.start(c, SessionOptions{})
	first.do(g.command("true"))
	first.end()
	g.open(t)
	r.forgetEnd(first.s, trace.ShellAbandoned)

	second := r.start(c, SessionOptions{Resume: first.s.ID()})
	second.idle()
	second.end()
	require.Len(t, second.events.of(trace.ShellFollowedUp), 1, "of the lost command")
	tasks := filepath.Join(first.s.Dir(), pendingName)
	id := ids.Task.New()
	put(t, filepath.Join(tasks, id+".json"),
		`{"version":1,"id":"`+id+`","context_id":"ctx_1","source":"api","origin":"user","trust":"trusted","message":"{}"}`)
	assert.Zero(t, r.collect(0))
	third := r.start(c, SessionOptions{Resume: first.s.ID()})
	third.idle()
	third.end()
	assert.Equal(t, id, third.events.of(trace.TaskStart)[0].TaskID)
	assert.Len(t, third.events.of(trace.TaskStart), 1, "what is lost is not told again")
	assert.Equal(t, 3, r.collect(0))
}

// A record that could not be read is somebody's all the same.
func TestCollect_keepsWhatIsAside(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{})
	s.do("true")
	s.end()
	put(t, filepath.Join(s.s.Dir(), "jobs", "wrk_1.json"), strings.Repeat("\x00", 9))
	_, problems, err := Collect(t.Context(), r.rt.StateDir(), 0)
	require.NoError(t, err)
	require.Len(t, problems, 1)
	assert.ErrorContains(t, problems[0], "a record was set aside", "nobody else will be told of it")
	for range 2 {
		assert.Zero(t, r.collect(0))
	}
	store, err := supervisor.Records(s.s.Dir())
	require.NoError(t, err)
	handles, asides, err := store.List()
	require.NoError(t, err)
	assert.Empty(t, handles)
	assert.Empty(t, asides, "it was moved before")
	require.NoError(t, os.RemoveAll(filepath.Join(store.Dir(), "aside")))
	assert.Equal(t, 1, r.collect(0))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}
