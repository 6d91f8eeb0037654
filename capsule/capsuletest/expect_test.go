package capsuletest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule/capsuletest"
)

func TestParseExpectation(t *testing.T) {
	e, err := capsuletest.ParseExpectation([]byte(`
grace_secs: 0.2
exit: 1
tasks:
- message: sleep 1
  origin: event
  trust: untrusted
  result: {contains: [x]}
  completions:
  - {status: error, result: {equals: y}}
- name: second
  message: |
    two
    lines
- message: |
    two
    lines
files:
  logs/*.log: {contains: [z]}
`))
	require.NoError(t, err)
	grace, exit, y := 0.2, 1, "y"
	assert.Equal(t, &capsuletest.Expectation{
		GraceSecs: &grace, TimeoutSecs: 60, Exit: &exit,
		Tasks: []capsuletest.Task{{
			Name: "sleep 1", Message: "sleep 1", Origin: "event",
			Outcome:     capsuletest.Outcome{Status: "ok", Trust: "untrusted", Result: capsuletest.Text{Contains: []string{"x"}}},
			Completions: []capsuletest.Outcome{{Status: "error", Result: capsuletest.Text{Equals: &y}}},
		}, {
			Name: "second", Message: "two\nlines\n", Origin: "user", Outcome: capsuletest.Outcome{Status: "ok"},
		}, {
			Name: "two…", Message: "two\nlines\n", Origin: "user", Outcome: capsuletest.Outcome{Status: "ok"},
		}},
		Files: map[string]capsuletest.Text{"logs/*.log": {Contains: []string{"z"}}},
	}, e)
}

func TestParseExpectation_errors(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "tasks: there are none"},
		{"unknown key", "tasks:\n- mesage: x\n", `2:3: unknown field "mesage"`},
		{"wrong type", "tasks: x\n", "1:8: "},
		{"status", "tasks: [{message: x, status: fine}]", `tasks[0].status: ok or error, got "fine"`},
		{"trust", "tasks: [{message: x, trust: no}]", `tasks[0].trust: trusted or untrusted, got "no"`},
		{"origin", "tasks: [{message: x, origin: me}]", `tasks[0].origin: `},
		{"regexp", "tasks: [{message: x, result: {matches: ['(']}}]", "tasks[0].result: error parsing regexp"},
		{"regexp in JSON", "tasks: [{message: x, result: {json: [{a: {$matches: '('}}]}}]", "tasks[0].result: error parsing regexp"},
		{"completion", "tasks: [{message: x, completions: [{status: y}]}]", `tasks[0].completions[0].status: ok or error, got "y"`},
		{"file", "tasks: [{message: x}]\nfiles: {a: {matches: ['(']}}", "files.a: error parsing regexp"},
		{"timeout", "timeout_secs: -1\ntasks: [{message: x}]", "timeout_secs: it must be more than 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := capsuletest.ParseExpectation([]byte(tt.in))
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestLoadExpectation(t *testing.T) {
	dir := t.TempDir()
	_, err := capsuletest.LoadExpectation(dir)
	assert.ErrorContains(t, err, "cannot read the expectations")

	path := filepath.Join(dir, capsuletest.ExpectFile)
	require.NoError(t, os.WriteFile(path, []byte("tasks:\n- message: x\n  zzz: 1\n"), 0o644))
	_, err = capsuletest.LoadExpectation(dir)
	assert.ErrorContains(t, err, path+":3:3: unknown field")

	require.NoError(t, os.WriteFile(path, []byte("exit: 1"), 0o644))
	_, err = capsuletest.LoadExpectation(path)
	assert.True(t, strings.HasPrefix(err.Error(), path+": tasks: "), err)
}

func FuzzParseExpectation(f *testing.F) {
	f.Add("tasks: [{message: x, result: {json: {a: [1]}}}]", `{"a":[1]}`)
	f.Add("tasks: [{message: x, result: {matches: [a], equals: b}}]", "b")
	f.Fuzz(func(t *testing.T, file, text string) {
		e, err := capsuletest.ParseExpectation([]byte(file))
		if err != nil {
			return
		}
		for _, task := range e.Tasks {
			task.Result.Check(text)
		}
	})
}
