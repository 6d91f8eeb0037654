package tinygo_test

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bindings in the tree are those that the WIT gives today.
func TestBindingsAreUpToDate(t *testing.T) {
	fresh := t.TempDir()
	for _, command := range generators(t) {
		command = strings.Replace(command, "--out .", "--out "+fresh, 1)
		words := strings.Fields(command)
		out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	assert.Equal(t, tree(t, fresh), tree(t, "."), "run: go generate ./capsule/guest/tinygo")
}

func generators(t *testing.T) []string {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	var commands []string
	for line := range strings.Lines(string(doc)) {
		if command, ok := strings.CutPrefix(line, "//go:generate "); ok {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	require.Len(t, commands, 2)
	return commands
}

// tree returns the files below the generated folder, by path.
func tree(t *testing.T, root string) map[string]string {
	files := map[string]string{}
	dir := os.DirFS(root)
	require.NoError(t, fs.WalkDir(dir, "murmur", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dir, path)
		files[path] = string(data)
		return err
	}))
	return files
}
