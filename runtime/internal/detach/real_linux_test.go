package detach_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// bash starts script in a fresh workdir, with a real runner.
func bash(t *testing.T, script string) (shell.Process, *shell.Workdir) {
	t.Helper()
	path, err := exec.LookPath("bash")
	require.NoError(t, err)
	dir, err := shell.OpenWorkdir(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = dir.Close() })
	runner, err := shell.NewInProcess(shell.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = runner.Close() })
	p, err := runner.Start(t.Context(), shell.Launch{
		Path: path, Args: []string{"bash", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")},
		Dir: dir.Path(), OutDir: t.TempDir(), Name: ids.Kind("cmd_").New(), MaxOutput: 1 << 20, MaxRuntime: time.Minute,
	})
	require.NoError(t, err)
	return p, dir
}

// logTo writes logs to dir.
func logTo(dir *shell.Workdir) detach.LogWriter {
	return func(w detach.Work, out shell.Output, exit shell.Exit) detach.Log {
		n, err := dir.WriteLog(w.LogPath(), shell.Log{Command: w.Command, Exit: exit, Output: out})
		return detach.Log{Path: w.LogPath(), Bytes: n, Err: err}
	}
}

// held is a script that goes on when the test says so, by making the file go.
func held(script string) string { return "until [ -e go ]; do sleep .01; done; " + script }

func letGo(t *testing.T, dir *shell.Workdir) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir.Path(), "go"), nil, 0o600))
}

func TestReal_DemotedThenCompletedWithItsOutputInTheLog(t *testing.T) {
	p, dir := bash(t, held("printf 'fin%s' 'ished-marker'; echo to-stderr >&2; exit 7"))
	r := detach.NewRegistry()
	pol := policy(r)
	pol.Grace, pol.WriteLog = 50*time.Millisecond, logTo(dir)
	w := await(t, p, pol)
	require.NotNil(t, w)
	assert.Equal(t, []string{w.ID}, outstanding(r))
	letGo(t, dir)

	c := completion(t, r)
	assert.Equal(t, w.ID, c.ID)
	assert.Equal(t, 7, c.Exit.Code)
	assert.Equal(t, "error", c.Status())
	require.NoError(t, c.Log.Err)
	log, err := os.ReadFile(filepath.Join(dir.Path(), c.Log.Path))
	require.NoError(t, err)
	assert.EqualValues(t, len(log), c.Log.Bytes)
	assert.Contains(t, string(log), "Command: sleep 3\n")
	assert.Contains(t, string(log), "Exit code: 7\n")
	_, streams, found := strings.Cut(string(log), "Stdout:")
	require.True(t, found)
	stdout, stderr, found := strings.Cut(streams, "Stderr:")
	require.True(t, found)
	assert.Contains(t, stdout, "finished-marker")
	assert.Contains(t, stderr, "to-stderr")
	assert.NotContains(t, c.Message().Text, "finished-marker", "the output never reaches the guest")
	assert.Empty(t, outstanding(r))
}

func TestReal_FastCommandsStayInTheForeground(t *testing.T) {
	p, dir := bash(t, "echo hi")
	r := detach.NewRegistry()
	pol := policy(r)
	pol.Grace, pol.WriteLog = time.Minute, logTo(dir)
	assert.Nil(t, await(t, p, pol))
	assert.Equal(t, 0, p.Exit().Code)
	assert.Empty(t, outstanding(r))
	assert.Empty(t, r.Sweep())
	_, err := os.Stat(filepath.Join(dir.Path(), "logs"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestReal_AChildInTheBackgroundHoldsTheCommandNotTheCall(t *testing.T) {
	p, dir := bash(t, "("+held("echo late")+") & echo ok")
	r := detach.NewRegistry()
	pol := policy(r)
	pol.Grace, pol.WriteLog = 50*time.Millisecond, logTo(dir)
	w := await(t, p, pol)
	require.NotNil(t, w)
	letGo(t, dir)
	c := completion(t, r)
	assert.Equal(t, "ok", c.Status())
	log, err := os.ReadFile(filepath.Join(dir.Path(), c.Log.Path))
	require.NoError(t, err)
	assert.Contains(t, string(log), "ok\nlate\n")
}

func TestReal_ALogThatCannotBeWrittenIsSaid(t *testing.T) {
	p, dir := bash(t, held("echo out"))
	r := detach.NewRegistry()
	pol := policy(r)
	pol.Background, pol.WriteLog = true, logTo(dir)
	w := await(t, p, pol)
	require.NoError(t, os.Mkdir(filepath.Join(dir.Path(), "logs"), 0o700))
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.Symlink(outside, filepath.Join(dir.Path(), w.LogPath())))
	letGo(t, dir)
	c := completion(t, r)
	require.Error(t, c.Log.Err)
	assert.Contains(t, c.Message().Text, "\noutput: none (")
	_, err := os.Lstat(outside)
	assert.ErrorIs(t, err, os.ErrNotExist, "the link's target is not touched")
}

func TestReal_StoppingByHandleEndsTheTree(t *testing.T) {
	p, dir := bash(t, "sleep 300 & sleep 300")
	r := detach.NewRegistry()
	pol := policy(r)
	pol.Background, pol.WriteLog = true, logTo(dir)
	require.NotNil(t, await(t, p, pol))
	require.NoError(t, r.Outstanding()[0].Stop(t.Context()))
	c := completion(t, r)
	assert.Equal(t, shell.ReasonKilled, c.Exit.Reason)
	assert.Equal(t, -1, c.Exit.Code)
	assert.Empty(t, c.Exit.Survivors)
}
