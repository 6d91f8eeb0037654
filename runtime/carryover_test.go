package runtime

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// A command of a session that died is on that session's books as carried on, so
// that nobody reports it lost when its record is gone.
func TestCarryOver(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	c := r.load("runner", atOnce)
	dead := r.start(c, SessionOptions{})
	id := dead.tool(dead.do(g.command("true"))).Metadata["work_id"]
	dead.end()
	r.forgetEnd(dead.s)

	next := r.start(c, SessionOptions{Workdir: dead.s.Workdir()})
	g.open(t)
	next.idle()
	require.NoError(t, next.s.durables.prune(time.Now().Add(2*time.Hour)))
	next.end()
	events, problems, err := ReadTrace(SessionInfo{Dir: dead.s.Dir()}.TracePath())
	require.NoError(t, err)
	require.Empty(t, problems)
	last := events[len(events)-1]
	assert.Equal(t, trace.ShellCarried, last.Type)
	assert.Equal(t, id, last.WorkID)
	assert.Equal(t, dead.s.ID(), last.SessionID)
	assert.NotNil(t, last.RunningMS)

	third := r.start(c, SessionOptions{Resume: dead.s.ID()})
	third.idle()
	third.end()
	assert.Equal(t, []string{trace.SessionStart, trace.SessionEnd}, third.events.kinds())
}

// forgetEnd leaves of an ended session what one whose process died leaves.
func (r *rig) forgetEnd(s *Session) {
	r.Helper()
	f, err := readSessionFile(s.Dir())
	require.NoError(r, err)
	f.EndedMS = 0
	require.NoError(r, f.write(s.Dir()))
	path := SessionInfo{Dir: s.Dir()}.TracePath()
	data, err := os.ReadFile(path)
	require.NoError(r, err)
	var kept []byte
	for line := range bytes.Lines(data) {
		if !bytes.Contains(line, []byte(trace.ShellCarried)) && !bytes.Contains(line, []byte(trace.SessionEnd)) {
			kept = append(kept, line...)
		}
	}
	require.NoError(r, os.WriteFile(path, kept, 0o600))
}
