package capsuletest_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule/capsuletest"
	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/runtime"
)

func TestMain(m *testing.M) {
	runtime.Hook()
	os.Exit(m.Run())
}

// Each kind of disappointment is told.
func TestCheck_disappointments(t *testing.T) {
	e, err := capsuletest.ParseExpectation([]byte(`
grace_secs: 0
exit: 1
tasks:
- name: as expected
  message: '{"binary": "sh", "command": "x"}'
  result: {json: {status: error}}
- name: another status
  message: '{"binary": "sh", "command": "x"}'
  status: error
- name: another trust, another text
  message: '{"binary": "sh", "command": "x"}'
  trust: untrusted
  result: {contains: [surprise]}
- name: a completion too many
  message: sleep 0.5
- name: a completion too few
  message: '{"binary": "sh", "command": "x"}'
  completions: [{}]
- name: another completion
  message: sleep 0.5; exit 4
  completions:
  - {result: {contains: ["exit_code: 5"]}}
files:
  none.txt: {}
`))
	require.NoError(t, err)
	rt, err := runtime.New(runtime.Options{StateDir: t.TempDir(), Log: io.Discard})
	require.NoError(t, err)
	defer func() { assert.NoError(t, rt.Close()) }()
	reports, err := capsuletest.Check(t.Context(), rt, fixtures.Dir(t, "runner"), e)
	require.NoError(t, err)

	want := []struct {
		name string
		in   []string
	}{
		{"as expected", nil},
		{"another status", []string{"want status error, got ok"}},
		{"another trust, another text", []string{"want it untrusted, got trusted", `"surprise" is not in`}},
		{"a completion too many", []string{"want 0 completions, got 1", "a completion that came: "}},
		{"a completion too few", []string{"want 1 completions, got 0"}},
		{"another completion", []string{`completion 1: "exit_code: 5" is not in`}},
		{"at the end", []string{"none.txt: want one such file, got 0", "want exit code 1, got 0"}},
	}
	require.Len(t, reports, len(want))
	for i, w := range want {
		assert.Equal(t, w.name, reports[i].Name)
		if assert.Len(t, reports[i].Wrong, len(w.in), "%s: %s", w.name, strings.Join(reports[i].Wrong, "\n")) {
			for j := range w.in {
				assert.Contains(t, reports[i].Wrong[j], w.in[j])
			}
		}
	}
}

func TestCheck_noCapsule(t *testing.T) {
	rt, err := runtime.New(runtime.Options{StateDir: t.TempDir(), Log: io.Discard})
	require.NoError(t, err)
	defer func() { assert.NoError(t, rt.Close()) }()
	_, err = capsuletest.Check(t.Context(), rt, t.TempDir(), &capsuletest.Expectation{TimeoutSecs: 60})
	assert.ErrorContains(t, err, "cannot find the manifest")
}
