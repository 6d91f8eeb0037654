package fixtures_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule/capsuletest"
	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
)

// The runner does the same in every form.
func TestRunners(t *testing.T) {
	for _, form := range fixtures.Runners() {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			checkForm(t, "runner", form)
		})
	}
}

// A guest in Go does the same as a component as it does as a core module.
func TestGoComponents(t *testing.T) {
	for form, origin := range map[string]string{
		"go-stress-component": "gcstress", "go-loop-component": "looper", "go-wasi-component": "wasi",
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			checkForm(t, origin, form)
		})
	}
}

// checkForm checks another form of a guest: under the guest's manifest, and by
// its file of expectations.
func checkForm(t *testing.T, origin, form string) {
	t.Helper()
	from, dir := fixtures.Dir(t, origin), t.TempDir()
	e, err := capsuletest.LoadExpectation(from)
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(from, "murmur.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "murmur.yaml"), manifest, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "build"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "build", origin+".wasm"), fixtures.Wasm(t, form), 0o600))
	check(t, dir, e)
}

// Components come in a form that the host tells from a core module.
func TestForms(t *testing.T) {
	const core, component = "\x00asm\x01\x00\x00\x00", "\x00asm\x0d\x00\x01\x00"
	for _, name := range fixtures.Runners() {
		want := component
		if name == "runner" || name == "c-runner" {
			want = core
		}
		assert.Equal(t, want, string(fixtures.Wasm(t, name)[:8]), name)
	}
}
