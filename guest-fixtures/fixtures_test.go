package fixtures_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
)

func TestPath_buildsAModule(t *testing.T) {
	wasm := fixtures.Wasm(t, "runner")
	require.Greater(t, len(wasm), 8)
	assert.Equal(t, "\x00asm\x01\x00\x00\x00", string(wasm[:8]))
	assert.FileExists(t, fixtures.Dir(t, "runner")+"/murmur.yaml")
}

func TestBuild_unknown(t *testing.T) {
	_, err := fixtures.Build("no-such-guest")
	assert.ErrorContains(t, err, "cannot build the guest no-such-guest")
}
