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

// The runner does the same in every form: under one manifest, and by one file of
// expectations.
func TestRunners(t *testing.T) {
	origin := fixtures.Dir(t, "runner")
	e, err := capsuletest.LoadExpectation(origin)
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(origin, "murmur.yaml"))
	require.NoError(t, err)
	for _, form := range fixtures.Runners() {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "murmur.yaml"), manifest, 0o600))
			require.NoError(t, os.Mkdir(filepath.Join(dir, "build"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "build", "runner.wasm"), fixtures.Wasm(t, form), 0o600))
			check(t, dir, e)
		})
	}
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
