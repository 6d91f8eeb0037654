package component

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// casesFile holds the binaries of the component texts in testdata, by the hash
// of the text, so that the cases run without a text tool.
const casesFile = "testdata/binaries.json"

// TestWastCases runs our own scripts. MURMUR_WAST_UPDATE=1, with
// MURMUR_WAST_TOOLS, converts their texts again after a change.
func TestWastCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.wast")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var texts []string
	var files []*wastFile
	for _, p := range paths {
		src, err := os.ReadFile(p)
		require.NoError(t, err)
		f, err := readScript(filepath.Base(p), string(src), &texts)
		require.NoError(t, err)
		files = append(files, f)
	}
	conversions := caseBinaries(t, texts)
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			report(t, f.name, newWastRunner(t, newRuntime(t)).run(t.Context(), f, conversions))
		})
	}
}

// caseBinaries gives the binaries of our texts.
func caseBinaries(t *testing.T, texts []string) []converted {
	t.Helper()
	if os.Getenv("MURMUR_WAST_UPDATE") != "" {
		updateCases(t, texts)
	}
	known := knownBinaries(t)
	out := make([]converted, len(texts))
	for i, text := range texts {
		wasm, ok := known[textHash(text)]
		require.True(t, ok, "%s does not have this text, see TestWastCases:\n%s", casesFile, text)
		out[i].Wasm = wasm
	}
	require.Len(t, known, len(texts), "%s holds binaries of texts that are gone", casesFile)
	return out
}

// knownBinaries are the binaries by the hash of their text.
func knownBinaries(t testing.TB) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile(casesFile)
	require.NoError(t, err)
	known := map[string][]byte{}
	require.NoError(t, json.Unmarshal(data, &known))
	return known
}

func updateCases(t *testing.T, texts []string) {
	t.Helper()
	known := map[string][]byte{}
	for i, c := range convert(t, texts) {
		require.Empty(t, c.Error, texts[i])
		known[textHash(texts[i])] = c.Wasm
	}
	data, err := json.MarshalIndent(known, "", " ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(casesFile, append(data, '\n'), 0o600))
}

func textHash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:8])
}
