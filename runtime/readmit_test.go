package runtime

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// A task that was refused its command has started none: should the runtime die,
// it can be run again.
func TestReadmit_aRefusedCommandIsNone(t *testing.T) {
	r := newRig(t)
	ask := func(s *Session, t *task, binary string) {
		s.runCommand(t, request{shell.Request{Binary: binary, Command: "true"}})
	}
	var refused, started bool
	s := r.start(r.load("runner"), SessionOptions{testOnlyWorker: scripted(func(s *Session, t *task) outcome {
		ask(s, t, "nope")
		refused = t.ran
		ask(s, t, "bash")
		started = t.ran
		return answered("", false)
	})})
	s.do("")
	s.end()
	assert.False(t, refused)
	assert.True(t, started)
}

// What became of an interrupted task is told by its session's trace: how long it
// ran, as far as that is known, and what it started.
func TestToldTasks(t *testing.T) {
	dir := t.TempDir()
	w, err := trace.Open(filepath.Join(dir, traceName), "ses_1", trace.Options{})
	require.NoError(t, err)
	id := ids.Task.New()
	for _, e := range []Event{
		{Type: trace.TaskStart, Timestamp: 1000},
		{Type: trace.Shell, Timestamp: 1200},
		{Type: trace.ShellDetached, Timestamp: 4500},
		{Type: trace.ShellCarried, Timestamp: 9000, WorkID: "wrk_1"},
	} {
		if e.WorkID == "" {
			e.TaskID = id
		}
		require.NoError(t, w.Append(e))
	}
	require.NoError(t, w.Append(Event{Type: trace.Shell, Timestamp: 5000, TaskID: "tsk_beheaded"}))
	require.NoError(t, w.Append(Event{Type: trace.TaskEnd, Timestamp: 5000, TaskID: "tsk_over"}))
	require.NoError(t, w.Close())

	told := toldTasks(dir, []pendingTask{{ID: id}})
	assert.Equal(t, toldTask{started: 1000, seen: 4500, calls: 2}, told[id])
	assert.Equal(t, 3500*time.Millisecond, told[id].ran())
	assert.Zero(t, told["tsk_beheaded"].ran(), "its start is not known")
	assert.True(t, told["tsk_over"].ended)
	assert.Zero(t, told["tsk_unknown"])
}
