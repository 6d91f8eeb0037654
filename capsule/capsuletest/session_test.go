package capsuletest_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/capsule/capsuletest"
	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/runtime"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

func TestStart_scriptedShell(t *testing.T) {
	s := capsuletest.Start(t, fixtures.Dir(t, "runner"), capsuletest.Options{
		Shell: capsuletest.Script{
			"uname": {Summary: "fine", Data: "Plan 9", Metadata: [][2]string{{"exit_code", "0"}}},
			"ls -l": {Status: "failed", Truncated: true},
		}.Answer,
	})
	var got map[string]any
	r := s.Do("uname")
	require.Equal(t, runtime.StatusOK, r.Status, r.Result)
	require.NoError(t, json.Unmarshal([]byte(r.Result), &got))
	assert.Equal(t, map[string]any{
		"status": "passed", "summary": "fine", "data": "Plan 9", "truncated": false,
		"metadata": map[string]any{"exit_code": "0"},
	}, got)

	r = s.Do(`{"binary": "ls", "args": ["-l"]}`)
	assert.JSONEq(t, `{"status":"failed","truncated":true,"metadata":{}}`, r.Result)

	r = s.Do("date")
	assert.Contains(t, r.Result, `the script has no answer to \"date\"`)
	assert.Len(t, s.Results(), 3)
}

func TestStart_demotedCommand(t *testing.T) {
	s := capsuletest.Start(t, fixtures.Dir(t, "runner"), capsuletest.Options{
		Change: func(m *capsule.Manifest) { m.Lifecycle.ShellGraceSecs = 0 },
	})
	r := s.Submit(runtime.Task{Origin: provenance.Event, Message: "echo done > f; sleep 0.5"})
	assert.Contains(t, r.Result, "work_id")
	done := s.Completion()
	assert.Equal(t, r.ContextID, done.ContextID)
	assert.Equal(t, provenance.Untrusted, done.Trust)
	assert.Contains(t, done.Result, "status: ok")
	assert.FileExists(t, s.Workdir()+"/f")
	s.WaitIdle()
	s.End()
	var types []string
	for _, e := range s.Events("shell_detached", "shell_completed", "session_end") {
		types = append(types, e.Type)
	}
	assert.Equal(t, []string{"shell_detached", "shell_completed", "session_end"}, types)
}

// A fakeTB shows how a test would end.
type fakeTB struct {
	*testing.T
	failure string
}

func (f *fakeTB) Fatalf(format string, args ...any) {
	f.failure = fmt.Sprintf(format, args...)
	panic(f)
}

func TestStart_failures(t *testing.T) {
	fails := func(do func(t capsuletest.TB)) string {
		f := &fakeTB{T: t}
		assert.PanicsWithValue(t, f, func() { do(f) })
		return f.failure
	}
	assert.Contains(t, fails(func(tb capsuletest.TB) {
		capsuletest.Start(tb, t.TempDir(), capsuletest.Options{})
	}), "cannot load the capsule: ")
	assert.Contains(t, fails(func(tb capsuletest.TB) {
		capsuletest.Start(tb, fixtures.Dir(t, "runner"), capsuletest.Options{Change: func(m *capsule.Manifest) { m.Name = "" }})
	}), "cannot load the guest: name: it is required")
	assert.Equal(t, "no completion has come: context deadline exceeded", fails(func(tb capsuletest.TB) {
		capsuletest.Start(tb, fixtures.Dir(t, "runner"), capsuletest.Options{Timeout: time.Millisecond}).Completion()
	}))
}
