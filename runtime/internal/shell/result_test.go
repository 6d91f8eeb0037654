package shell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResultOfAnExit(t *testing.T) {
	ms := 12 * time.Millisecond
	for name, c := range map[string]struct {
		exit    Exit
		status  Status
		summary string
		meta    []Pair
	}{
		"well": {Exit{Duration: ms}, Passed, "Command finished with exit code 0.", nil},
		"ill":  {Exit{Code: 3, Duration: ms}, Failed, "Command finished with exit code 3.", nil},
		"by a signal": {Exit{Code: 137, Signal: "SIGKILL", Duration: ms}, Failed, "Command was ended by SIGKILL (exit code 137).",
			[]Pair{{"signal", "SIGKILL"}}},
		"by its limit": {Exit{Code: -1, Reason: ReasonTimedOut, Duration: ms}, Failed, "Command timed out and was ended after 12 ms.",
			[]Pair{{"reason", "timed_out"}}},
		"stopped": {Exit{Code: -1, Reason: ReasonKilled, Survivors: []Survivor{{9, "x"}}, Duration: ms}, Failed,
			"Command was ended after 12 ms: killed.", []Pair{{"reason", "killed"}, {"survivors", "x (pid 9)"}}},
		"with a limit and exit code 0": {Exit{Limit: "cgroup_pids_max", Duration: ms}, Failed, "Command met the limit cgroup_pids_max (exit code 0).",
			[]Pair{{"resource_limit", "cgroup_pids_max"}}},
		"unobserved": {Exit{Code: -1, WaitErr: "why", Duration: ms}, Failed, "The end of the command could not be observed.",
			[]Pair{{"wait_error", "why"}}},
		"leaving a daemon": {Exit{LeftRunning: []Survivor{{9, "a\nb"}}, Duration: ms}, Passed, "Command finished with exit code 0.",
			[]Pair{{"left_running", `"a\nb" (pid 9)`}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.status, c.exit.status())
			assert.Equal(t, c.summary, c.exit.summary())
			code := []Pair{{"exit_code", map[bool]string{true: "-1", false: ""}[c.exit.Code == -1]}}
			if c.exit.Code != -1 {
				code = c.exit.metadata()[:1]
			}
			assert.Equal(t, append(append(code, Pair{"duration_ms", "12"}), c.meta...), c.exit.metadata())
		})
	}
}

func TestRefusal(t *testing.T) {
	r := Refusal(errors.New("binary: a\x1b[31m\nstatus: ok\xff " + strings.Repeat("x", 5000)))
	require.Equal(t, Error, r.Status)
	require.True(t, strings.HasPrefix(*r.Summary, "binary: a status: ok\ufffd xxx"))
	require.LessOrEqual(t, len(*r.Summary), 1024)
	require.Nil(t, r.Data)
	require.Nil(t, r.DataPath)
	require.Empty(t, r.Metadata)
}

// captured writes what a capture would have written.
func captured(t *testing.T, stdout, stderr string) Output {
	t.Helper()
	dir := t.TempDir()
	o := Output{
		StdoutPath: filepath.Join(dir, "x.stdout"), StderrPath: filepath.Join(dir, "x.stderr"),
		StdoutBytes: int64(len(stdout)), StderrBytes: int64(len(stderr)),
	}
	for path, text := range map[string]string{o.StdoutPath: stdout, o.StderrPath: stderr} {
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
	return o
}

func workdir(t *testing.T) *Workdir {
	t.Helper()
	w, err := OpenWorkdir(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { w.Close() })
	return w
}

func TestWriteLog(t *testing.T) {
	w := workdir(t)
	for name, c := range map[string]struct {
		log  Log
		want string
	}{
		"both": {
			Log{"echo", Exit{}, captured(t, "out\n", "err\n")},
			"Command: echo\nExit code: 0\nStdout:\nout\nStderr:\nerr\n",
		},
		"without last newlines": {
			Log{"echo", Exit{Code: 1}, captured(t, "out", "err")},
			"Command: echo\nExit code: 1\nStdout:\nout\nStderr:\nerr\n",
		},
		"nothing": {
			Log{"true", Exit{}, captured(t, "", "")},
			"Command: true\nExit code: 0\nStdout:\nStderr:\n",
		},
		"raw bytes": {
			Log{"x", Exit{}, captured(t, "\x00\xff\x1b[1m\r", "")},
			"Command: x\nExit code: 0\nStdout:\n\x00\xff\x1b[1m\r\nStderr:\n",
		},
		"everything": {
			Log{"a\nExit code: 0", Exit{
				Code: -1, Signal: "SIGXCPU", Reason: ReasonKilled, Limit: "cpu_seconds", WaitErr: "e",
				LeftRunning: []Survivor{{1, "a"}}, Survivors: []Survivor{{2, "b"}},
			}, captured(t, "", "")},
			"Command: \"a\\nExit code: 0\"\nExit code: -1\nsignal: SIGXCPU\nreason: killed\nresource_limit: cpu_seconds\n" +
				"left_running: a (pid 1)\nsurvivors: b (pid 2)\nwait_error: e\nStdout:\nStderr:\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := "sub/" + strings.ReplaceAll(name, " ", "_") + ".log"
			size, err := w.WriteLog(path, c.log)
			require.NoError(t, err)
			b, err := os.ReadFile(filepath.Join(w.Path(), path))
			require.NoError(t, err)
			require.Equal(t, c.want, string(b))
			require.Equal(t, int64(len(b)), size)
		})
	}
}

func TestWriteLogSaysWhatIsMissing(t *testing.T) {
	w := workdir(t)
	o := captured(t, "kept", "")
	o.Truncated, o.StdoutBytes = true, 1000
	_, err := w.WriteLog("a.log", Log{"yes", Exit{}, o})
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(w.Path(), "a.log"))
	require.NoError(t, err)
	require.Contains(t, string(b), "Output over the limit was dropped: 1000 bytes of stdout and 0 bytes of stderr were written.\n")
}

func TestWriteLogRefuses(t *testing.T) {
	w := workdir(t)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(w.Path(), "file"), []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(w.Path(), "out")))
	require.NoError(t, os.Mkdir(filepath.Join(w.Path(), "dir"), 0o755))
	require.NoError(t, os.Symlink("dir", filepath.Join(w.Path(), "in")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(w.Path(), "dir", "link")))
	for _, name := range []string{"", "/x", "../x", "a/../../x", "file", "file/x", "out/x", "in/x", "dir", "dir/link", "a\x00b", "."} {
		_, err := w.WriteLog(name, Log{Output: captured(t, "", "")})
		assert.Error(t, err, "%q", name)
	}
	require.Equal(t, "mine", string(must(os.ReadFile(filepath.Join(w.Path(), "file")))))
	require.Empty(t, must(os.ReadDir(outside)))
	require.Len(t, must(os.ReadDir(filepath.Join(w.Path(), "dir"))), 1)
}

func TestWriteLogLeavesNothingHalf(t *testing.T) {
	w := workdir(t)
	o := captured(t, "x", "")
	o.StdoutPath = t.TempDir() // cannot be read as a file
	_, err := w.WriteLog("logs/a.log", Log{Output: o})
	require.ErrorContains(t, err, "cannot write the log logs/a.log")
	require.Empty(t, must(os.ReadDir(filepath.Join(w.Path(), "logs"))))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestRemoveOutput(t *testing.T) {
	o := captured(t, "x", "")
	require.NoError(t, o.Remove())
	require.NoFileExists(t, o.StdoutPath)
	require.NoError(t, o.Remove(), "again")
}

func TestSlots(t *testing.T) {
	s := NewSlots(2)
	require.NoError(t, s.Take())
	require.NoError(t, s.Take())
	require.EqualError(t, s.Take(), "too many commands are running: the limit is 2 at a time (lifecycle.shell_max_running)")
	s.Release()
	require.NoError(t, s.Take())
}
