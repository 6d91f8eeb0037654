package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

func open(t *testing.T, path string) *trace.Writer {
	t.Helper()
	w, err := trace.Open(path, "ses_1", trace.Options{Now: func() time.Time { return time.UnixMilli(42) }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func tracePath(t *testing.T) string { return filepath.Join(t.TempDir(), "trace.jsonl") }

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

func TestWriter_ExactLines(t *testing.T) {
	n := trace.Int[int]
	cases := []struct {
		event trace.Event
		want  string
	}{
		{
			trace.Event{
				Type: trace.SessionStart, Capsule: "runner", Version: "0.1.0", GuestSHA256: "ab",
				Containment: json.RawMessage(`{"mode":"none"}`), ResumedFrom: "ses_0",
			},
			`{"event_type":"session_start","session_id":"ses_1","timestamp":42,"capsule":"runner","version":"0.1.0",` +
				`"guest_sha256":"ab","containment":{"mode":"none"},"resumed_from":"ses_0"}`,
		},
		{
			trace.Event{Type: trace.SessionEnd, ExitStatus: "ok", Tasks: n(2), TasksFailed: n(0), Detached: n(1), Outstanding: n(0)},
			`{"event_type":"session_end","session_id":"ses_1","timestamp":42,"exit_status":"ok","tasks":2,"tasks_failed":0,` +
				`"detached":1,"outstanding":0}`,
		},
		{
			trace.Event{
				Type: trace.TaskStart, TaskID: "tsk_1", ContextID: "ctx_1", Source: "cli", Origin: "user", Trust: "trusted",
				Lane: "user", MessageBytes: n(0), Repeated: true,
			},
			`{"event_type":"task_start","session_id":"ses_1","timestamp":42,"task_id":"tsk_1","context_id":"ctx_1","source":"cli",` +
				`"origin":"user","trust":"trusted","lane":"user","message_bytes":0,"repeated":true}`,
		},
		{
			trace.Event{Type: trace.TaskEnd, TaskID: "tsk_1", ExitStatus: trace.StatusOK, DurationMS: n(0), ShellCalls: n(0)},
			`{"event_type":"task_end","session_id":"ses_1","timestamp":42,"exit_status":"ok","task_id":"tsk_1","shell_calls":0,"duration_ms":0}`,
		},
		{
			trace.Event{
				Type: trace.Shell, TaskID: "tsk_1", Binary: "/bin/bash", Command: "a && b > c\nd", ExitCode: n(0),
				StdoutBytes: n(0), StderrBytes: n(7), DurationMS: n(3), ResourceLimit: "pids",
			},
			`{"event_type":"shell","session_id":"ses_1","timestamp":42,"task_id":"tsk_1","duration_ms":3,"binary":"/bin/bash",` +
				`"command":"a && b > c\nd","exit_code":0,"resource_limit":"pids","stdout_bytes":0,"stderr_bytes":7}`,
		},
		{
			trace.Event{Type: trace.ShellDetached, WorkID: "wrk_1", Binary: "/bin/bash", Command: "sleep 3", GraceMS: n(0)},
			`{"event_type":"shell_detached","session_id":"ses_1","timestamp":42,"work_id":"wrk_1","binary":"/bin/bash",` +
				`"command":"sleep 3","grace_ms":0}`,
		},
		{
			trace.Event{
				Type: trace.ShellCompleted, WorkID: "wrk_1", Binary: "/bin/bash", Command: "sleep 3", ExitCode: n(-1), DurationMS: n(9),
				OutputPath: "logs/wrk_1.log", OutputBytes: n(0), Status: "error", CompletionTaskID: "tsk_2",
			},
			`{"event_type":"shell_completed","session_id":"ses_1","timestamp":42,"duration_ms":9,"work_id":"wrk_1","binary":"/bin/bash",` +
				`"command":"sleep 3","status":"error","exit_code":-1,"output_path":"logs/wrk_1.log","output_bytes":0,"completion_task_id":"tsk_2"}`,
		},
		{
			trace.Event{Type: trace.ShellAbandoned, WorkID: "wrk_1", Binary: "/bin/bash", Command: "sleep 3", RunningMS: n(0)},
			`{"event_type":"shell_abandoned","session_id":"ses_1","timestamp":42,"work_id":"wrk_1","binary":"/bin/bash",` +
				`"command":"sleep 3","running_ms":0}`,
		},
		{
			trace.Event{
				Type: trace.ShellLost, WorkID: "wrk_1", Binary: "/bin/bash", Command: "sleep 3", DetachedAtMS: n(0),
				ReconciledBySession: "ses_2", ReconciledTaskID: "tsk_3",
			},
			`{"event_type":"shell_lost","session_id":"ses_1","timestamp":42,"work_id":"wrk_1","binary":"/bin/bash","command":"sleep 3",` +
				`"detached_at_ms":0,"reconciled_by_session":"ses_2","reconciled_task_id":"tsk_3"}`,
		},
		{
			trace.Event{Type: trace.ShellFollowedUp, WorkID: "wrk_1", CompletionTaskID: "tsk_2", Attempt: n(1)},
			`{"event_type":"shell_followed_up","session_id":"ses_1","timestamp":42,"work_id":"wrk_1","completion_task_id":"tsk_2","attempt":1}`,
		},
	}
	for _, c := range cases {
		path := tracePath(t)
		require.NoError(t, open(t, path).Append(c.event), c.event.Type)
		assert.Equal(t, c.want+"\n", read(t, path))
		assert.NotContains(t, read(t, path), "null")

		events, problems, err := trace.ReadFile(path)
		require.NoError(t, err)
		assert.Empty(t, problems)
		c.event.SessionID, c.event.Timestamp = "ses_1", 42
		assert.Equal(t, []trace.Event{c.event}, events)
	}
}

func TestWriter_KeepsAGivenTimestampAndItsOwnSession(t *testing.T) {
	path := tracePath(t)
	require.NoError(t, open(t, path).Append(trace.Event{Type: "x", SessionID: "ses_forged", Timestamp: 7}))
	assert.Equal(t, `{"event_type":"x","session_id":"ses_1","timestamp":7}`+"\n", read(t, path))
}

func TestWriter_HealsATornTail(t *testing.T) {
	path := tracePath(t)
	require.NoError(t, os.WriteFile(path, []byte(`{"event_type":"a"}`+"\n"+`{"event_type":"b","wor`), 0o600))
	w := open(t, path)
	require.NoError(t, w.Append(trace.Event{Type: "c"}))
	require.NoError(t, w.Append(trace.Event{Type: "d"}))

	events, problems, err := trace.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, events, 3)
	assert.Equal(t, "acd", events[0].Type+events[1].Type+events[2].Type)
	require.Len(t, problems, 1)
	assert.Equal(t, 2, problems[0].Line)
}

func TestWriter_HealsAWholeLineThatLacksOnlyItsNewline(t *testing.T) {
	path := tracePath(t)
	require.NoError(t, os.WriteFile(path, []byte(`{"event_type":"a"}`), 0o600))
	require.NoError(t, open(t, path).Append(trace.Event{Type: "b"}))
	events, problems, err := trace.ReadFile(path)
	require.NoError(t, err)
	assert.Len(t, events, 2)
	assert.Empty(t, problems)
}

func TestWriter_ManyWritersOneFile(t *testing.T) {
	path := tracePath(t)
	var wait sync.WaitGroup
	for range 4 {
		w := open(t, path)
		for range 4 {
			wait.Go(func() {
				for range 50 {
					assert.NoError(t, w.Append(trace.Event{Type: "shell", Command: strings.Repeat("x", 5000)}))
				}
			})
		}
	}
	wait.Wait()
	events, problems, err := trace.ReadFile(path)
	require.NoError(t, err)
	assert.Empty(t, problems)
	assert.Len(t, events, 800)
}

func TestWriter_Errors(t *testing.T) {
	w := open(t, tracePath(t))
	assert.ErrorContains(t, w.Append(trace.Event{}), "no type")
	err := w.Append(trace.Event{Type: trace.Shell, Binary: strings.Repeat("x", trace.MaxLine)})
	assert.ErrorContains(t, err, "over the limit")
	require.NoError(t, w.Sync())
	require.NoError(t, w.Close())
	assert.ErrorIs(t, w.Append(trace.Event{Type: "x"}), os.ErrClosed)

	_, err = trace.Open(t.TempDir(), "ses_1", trace.Options{})
	assert.ErrorContains(t, err, "cannot open the trace")
	_, _, err = trace.ReadFile(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestWriter_TheLongestCommandFits(t *testing.T) {
	path := tracePath(t)
	w, err := trace.Open(path, "ses_1", trace.Options{Sync: true})
	require.NoError(t, err)
	require.NoError(t, w.Append(trace.Event{Type: trace.Shell, Command: strings.Repeat("\x01", 131_071)}))
	require.NoError(t, w.Close())
	events, problems, err := trace.ReadFile(path)
	require.NoError(t, err)
	assert.Empty(t, problems)
	assert.Len(t, events[0].Command, 131_071)
}

func TestWriter_ALongerCommandIsCutAndItsEventKept(t *testing.T) {
	path := tracePath(t)
	require.NoError(t, open(t, path).Append(trace.Event{Type: trace.ShellDetached, WorkID: "wrk_1", Command: strings.Repeat("日", trace.MaxLine)}))
	events, problems, err := trace.ReadFile(path)
	require.NoError(t, err)
	assert.Empty(t, problems)
	assert.Equal(t, "wrk_1", events[0].WorkID)
	assert.LessOrEqual(t, len(events[0].Command), 1024)
	assert.True(t, strings.HasSuffix(events[0].Command, "日…"))
}

func TestLines_BadLinesAreToldAndPassedOver(t *testing.T) {
	good := `{"event_type":"a"}`
	bad := []string{
		"nonsense", `{"event_type":`, `[]`, `"a"`, `{}`, `{"event_type":7}`, `{"event_type":"a","exit_code":"0"}`,
		strings.Repeat("\x00", 100), good + good, strings.Repeat("[", 100_000), strings.Repeat("y", trace.MaxLine+1),
	}
	content := good + "\n" + strings.Join(bad, "\n") + "\n\n \n" + good + "\n" + `{"event_type":"to`
	var numbers []int
	var events, torn int
	for line := range trace.Lines(strings.NewReader(content)) {
		switch {
		case line.Err == nil:
			events++
			assert.Equal(t, good, string(line.Raw))
		case errors.Is(line.Err, trace.ErrTorn):
			torn++
		default:
			numbers = append(numbers, line.Number)
		}
	}
	assert.Equal(t, 2, events)
	assert.Equal(t, 1, torn)
	assert.Equal(t, []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, numbers)
}

func TestLines_LongLineAtTheEnd(t *testing.T) {
	long := strings.Repeat("y", trace.MaxLine+1)
	for _, content := range []string{long, long + "\n"} {
		_, problems := trace.Events(strings.NewReader(content))
		require.Len(t, problems, 1)
		assert.ErrorContains(t, problems[0], "line 1: over 1048576 bytes long")
	}
}

func TestLines_AFailingFileEndsReadingAndIsTold(t *testing.T) {
	broken := errors.New("input/output error")
	for _, before := range []string{"", `{"event_type":"a"}` + "\n", strings.Repeat("y", 2*trace.MaxLine)} {
		reader := iotest.DataErrReader(iotest.TimeoutReader(iotest.ErrReader(broken)))
		_, problems := trace.Events(&joined{[]byte(before), reader})
		require.Len(t, problems, 1, "%d bytes before", len(before))
		assert.ErrorIs(t, problems[0], broken)
	}
}

// joined reads first, then from then.
type joined struct {
	first []byte
	then  interface{ Read([]byte) (int, error) }
}

func (j *joined) Read(p []byte) (int, error) {
	if len(j.first) == 0 {
		return j.then.Read(p)
	}
	n := copy(p, j.first)
	j.first = j.first[n:]
	return n, nil
}

func TestLines_UnknownFieldsAndTypesAreLeftAlone(t *testing.T) {
	events, problems := trace.Events(strings.NewReader(`{"event_type":"of_tomorrow","novel":{"a":[1]}}`))
	assert.Empty(t, problems)
	assert.Equal(t, []trace.Event{{Type: "of_tomorrow"}}, events)
}

func TestLines_StopsWhenAsked(t *testing.T) {
	for line := range trace.Lines(strings.NewReader("{\n{\n{\n")) {
		assert.Equal(t, 1, line.Number)
		break
	}
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", `{"event_type":"shell","exit_code":-1}` + "\n", `{"event_type":"a"}` + "\n" + `{"event`,
		"\x00\x00\n", `{"event_type":null}`, `{"event_type":"a","timestamp":1e400}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		last, kept := 0, 0
		for line := range trace.Lines(bytes.NewReader(content)) {
			require.Greater(t, line.Number, last)
			last = line.Number
			require.NotContains(t, string(line.Raw), "\n")
			if line.Err == nil {
				kept++
				require.NotEmpty(t, line.Event.Type)
			}
		}
		path := filepath.Join(t.TempDir(), "trace.jsonl")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		w, err := trace.Open(path, "ses_1", trace.Options{})
		require.NoError(t, err)
		require.NoError(t, w.Append(trace.Event{Type: "after"}))
		require.NoError(t, w.Close())
		events, _, err := trace.ReadFile(path)
		require.NoError(t, err)
		require.Len(t, events, kept+1, "what could be read before can be read after, and the new event too")
	})
}
