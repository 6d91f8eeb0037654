package fixtures_test

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

// Every guest does what its expectation file says. The runner's are for all its
// forms: see TestRunners.
func TestExpectations(t *testing.T) {
	for _, name := range []string{"looper", "command", "gcstress", "hostile", "wasi", "text-looper", "text-command"} {
		t.Run(name, func(t *testing.T) {
			dir := fixtures.Dir(t, name)
			e, err := capsuletest.LoadExpectation(dir)
			require.NoError(t, err)
			check(t, dir, e)
		})
	}
}

// check runs the capsule of a folder and compares it with an expectation.
func check(t *testing.T, dir string, e *capsuletest.Expectation) {
	t.Helper()
	rt, err := runtime.New(runtime.Options{StateDir: t.TempDir(), CacheDir: fixtures.RuntimeCache(t), Log: io.Discard})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, rt.Close()) })
	reports, err := capsuletest.Check(t.Context(), rt, dir, e)
	require.NoError(t, err)
	for _, r := range reports {
		t.Run(r.Name, func(t *testing.T) {
			assert.Empty(t, r.Wrong, strings.Join(r.Wrong, "\n"))
		})
	}
}
