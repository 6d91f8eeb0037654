package component

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
)

// preamble is how every component begins.
const preamble = "\x00asm\x0d\x00\x01\x00"

// section writes a section of a component.
func section(id byte, contents string) string {
	return string(appendSection(nil, id, []byte(contents)))
}

// caseBinary is the binary of the n-th component text of a script in testdata.
func caseBinary(t testing.TB, script string, n int) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", script))
	require.NoError(t, err)
	var texts []string
	_, err = readScript(script, string(src), &texts)
	require.NoError(t, err)
	return knownBinaries(t)[textHash(texts[n])]
}

// loadCase loads the n-th component of a script.
func loadCase(t testing.TB, runtime wazero.Runtime, script string, n int) *Component {
	t.Helper()
	c, err := Load(context.Background(), runtime, caseBinary(t, script, n), Options{Prepare: checked})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.Background())) })
	return c
}
