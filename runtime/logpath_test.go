package runtime

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// copying stands for a guest that wants a copy of its background command's log,
// and hands back the text of the completion.
func copying(command, copyTo string, told chan<- string) func(*Session) worker {
	return scripted(func(s *Session, t *task) outcome {
		if t.delivery != nil {
			told <- t.message
			return answered("", false)
		}
		s.runCommand(t, request{shell.Request{Binary: "bash", Command: command, Background: true, LogPath: &copyTo}})
		return answered("", false)
	})
}

// The copy of a log is written at the end of a command, also by a session that
// took the command over.
func TestLogPath_ofABackgroundCommand(t *testing.T) {
	for _, tt := range []struct {
		name    string
		carried bool
	}{{"same session", false}, {"next session", true}} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			g := r.gate()
			told := make(chan string, 1)
			c := r.load("runner")
			o := SessionOptions{testOnlyWorker: copying(g.command("echo done"), "mine/copy.log", told)}
			s := r.start(c, o)
			s.do("")
			if tt.carried {
				s.end()
				o.Workdir = s.s.Workdir()
				s = r.start(c, o)
			}
			g.open(t)
			s.idle()
			s.end()
			assert.NotContains(t, <-told, "copy of the log")
			copied := s.file("mine/copy.log")
			assert.Contains(t, copied, "Stdout:\ndone\n")
			assert.Equal(t, s.file(s.events.of(trace.ShellCompleted)[0].OutputPath), copied)
		})
	}
}

// A copy that cannot be written is said so; the log itself is there all the
// same, and what has the copy's place is not touched.
func TestLogPath_takenMeanwhile(t *testing.T) {
	r := newRig(t)
	g := r.gate()
	told := make(chan string, 1)
	s := r.start(r.load("runner"), SessionOptions{testOnlyWorker: copying(g.command("echo done"), "copy.log", told)})
	s.do("")
	require.NoError(t, os.WriteFile(filepath.Join(s.s.Workdir(), "copy.log"), []byte("theirs"), 0o600))
	g.open(t)
	s.idle()
	s.end()
	text := <-told
	assert.Contains(t, text, "\nstatus: ok\n")
	assert.Regexp(t, `\noutput: logs/wrk_[0-9a-f]+\.log \([0-9]+ bytes, in the capsule workdir\)\n`, text)
	assert.Contains(t, text, "The copy of the log that was asked for is missing: ")
	assert.Regexp(t, `are not reproduced here\.$`, text)
	assert.Equal(t, "theirs", s.file("copy.log"))
}
