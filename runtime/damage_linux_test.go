package runtime

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// damages are what may be found in a file's place.
var damages = map[string]func(path string) error{
	"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
	"device":  func(path string) error { return os.Symlink("/dev/zero", path) },
	"nothing": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	"garbage": func(path string) error { return os.WriteFile(path, []byte("{\x00\xff}\n\n[}"), 0o600) },
}

func replaceBy(t *testing.T, path string, damage func(string) error) {
	t.Helper()
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, damage(path))
}

// supervisorGone waits until the session's supervisor has let go of its lock.
func supervisorGone(t *testing.T, s *Session) {
	t.Helper()
	f, err := os.Open(filepath.Join(s.Dir(), "supervisor.lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_SH))
}

// A session whose own file is damaged is still listed, with its commands, and
// what it owes is delivered.
func TestDamage_sessionFile(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			g := r.gate()
			c := r.load("runner", atOnce)
			old := r.start(c, SessionOptions{})
			id := old.tool(old.do(g.command("true"))).Metadata["work_id"]
			old.end()
			replaceBy(t, filepath.Join(old.s.Dir(), sessionFileName), damage)

			sessions, err := Sessions(r.rt.StateDir())
			require.NoError(t, err)
			require.Len(t, sessions, 1)
			assert.Contains(t, sessions[0].Damaged, sessionFileName)
			assert.Equal(t, "runner", sessions[0].Capsule)
			assert.Equal(t, old.s.Workdir(), sessions[0].Workdir)
			assert.False(t, sessions[0].Died(), "its end is in its trace")

			found, problems, err := Jobs(t.Context(), r.rt.StateDir())
			require.NoError(t, err)
			require.Len(t, found, 1)
			assert.Equal(t, id, found[0].ID)
			require.Len(t, problems, 1)
			assert.ErrorContains(t, problems[0], old.s.ID())

			next := r.start(c, SessionOptions{Resume: old.s.ID()})
			assert.Equal(t, old.s.Workdir(), next.s.Workdir())
			g.open(t)
			next.idle()
			next.end()
			assert.Contains(t, next.events.kinds(), "shell_followed_up")
			assert.Contains(t, r.log.String(), sessionFileName)
		})
	}
}

// Whatever is in the place of another file of a session that ended, nobody hangs
// on it, and a new session starts.
func TestDamage_otherFiles(t *testing.T) {
	for _, file := range []string{traceName, lockName, pendingName, "journal", "supervisor.lock", "supervisor.log", "supervisor.sock", "jobs", "jobs/lock"} {
		for name, damage := range damages {
			t.Run(file+" "+name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				c := r.load("runner")
				old := r.start(c, SessionOptions{})
				old.do("true")
				old.end()
				supervisorGone(t, old.s)
				replaceBy(t, filepath.Join(old.s.Dir(), file), damage)

				sessions, err := Sessions(r.rt.StateDir())
				require.NoError(t, err)
				require.Len(t, sessions, 1)
				_, _, err = Jobs(t.Context(), r.rt.StateDir())
				require.NoError(t, err)
				next := r.start(c, SessionOptions{Workdir: old.s.Workdir()})
				assert.Equal(t, "passed", next.tool(next.do("true")).Status)
				next.end()
				// To go on with it may be refused, but not hang.
				if s, err := r.rt.Start(t.Context(), c, SessionOptions{Resume: old.s.ID()}); err == nil {
					s.Abort()
					require.NoError(t, s.Wait(t.Context()))
				}
				_, _, err = Collect(t.Context(), r.rt.StateDir(), -time.Hour)
				require.NoError(t, err)
			})
		}
	}
}
