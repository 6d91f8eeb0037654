package runtime

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// A command of a session that died is on that session's books as carried on, so
// that nobody reports it lost when its record is gone.
func TestCarryOver(t *testing.T) {
	t.Run("demoted", func(t *testing.T) { testCarryOver(t) })
	t.Run("waited for", func(t *testing.T) { testCarryOver(t, trace.ShellDetached) })
}

// testCarryOver leaves events of these types out of what the session that died
// has written.
func testCarryOver(t *testing.T, unwritten ...string) {
	r := newRig(t)
	g := r.gate()
	c := r.load("runner", atOnce)
	dead := r.start(c, SessionOptions{})
	id := dead.tool(dead.do(g.command("true"))).Metadata["work_id"]
	dead.end()
	demoted := dead.events.of(trace.ShellDetached)[0]
	r.forgetEnd(dead.s, unwritten...)

	next := r.start(c, SessionOptions{Workdir: dead.s.Workdir()})
	g.open(t)
	next.idle()
	require.NoError(t, next.s.durables.prune(time.Now().Add(2*time.Hour)))
	next.end()
	events, problems, err := ReadTrace(SessionInfo{Dir: dead.s.Dir()}.TracePath())
	require.NoError(t, err)
	require.Empty(t, problems)
	var of []Event
	for _, e := range events {
		if e.WorkID == id {
			of = append(of, e)
		}
	}
	require.Len(t, of, 2)
	assert.Equal(t, trace.ShellDetached, of[0].Type)
	assert.Equal(t, demoted.TaskID, of[0].TaskID)
	assert.NotNil(t, of[0].GraceMS)
	assert.Equal(t, trace.ShellCarried, of[1].Type)
	assert.Equal(t, demoted.Command, of[1].Command)
	assert.Equal(t, dead.s.ID(), of[1].SessionID)
	assert.NotNil(t, of[1].RunningMS)

	third := r.start(c, SessionOptions{Resume: dead.s.ID()})
	third.idle()
	third.end()
	assert.Equal(t, []string{trace.SessionStart, trace.SessionEnd}, third.events.kinds())
}

// forgetEnd leaves of an ended session what one whose process died leaves.
func (r *rig) forgetEnd(s *Session, unwritten ...string) {
	r.Helper()
	f, err := readSessionFile(s.Dir())
	require.NoError(r, err)
	f.EndedMS = 0
	require.NoError(r, f.write(s.Dir()))
	path := SessionInfo{Dir: s.Dir()}.TracePath()
	data, err := os.ReadFile(path)
	require.NoError(r, err)
	unwritten = append(unwritten, trace.ShellCarried, trace.SessionEnd)
	var kept []byte
	for line := range bytes.Lines(data) {
		has := func(kind string) bool { return bytes.Contains(line, []byte(`"`+kind+`"`)) }
		if !slices.ContainsFunc(unwritten, has) {
			kept = append(kept, line...)
		}
	}
	require.NoError(r, os.WriteFile(path, kept, 0o600))
}
