package shell

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpenWorkdir_pipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := OpenWorkdir(path)
	assert.ErrorContains(t, err, "not a directory")
}

func TestOpenWorkdir_pathIsNoText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w\xff\n")
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err := OpenWorkdir(path)
	assert.ErrorContains(t, err, `w\xff\n" is not valid UTF-8`)
}

// In a workdir that holds the system's own directories, a command could put
// anything in the place of an allowed binary.
func TestNewPolicy_workdirHoldsTheBinaries(t *testing.T) {
	w, err := OpenWorkdir("/")
	require.NoError(t, err)
	defer w.Close()
	_, err = NewPolicy(Config{Workdir: w, Allow: []string{"bash"}})
	assert.ErrorContains(t, err, "commands may write to every directory that binaries are looked up in: the workdir is /")
	assert.NoDirExists(t, "/.murmur")
}

// A copy where the logs go would end every later command of the session, and so
// would one in a tree that is too deep to be measured.
func TestWorkdir_copiesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	w, err := OpenWorkdir(dir)
	require.NoError(t, err)
	defer w.Close()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for path, problem := range map[string]string{
		"logs":                          "is the directory of the logs",
		"a/../logs/.":                   "is the directory of the logs",
		"real":                          "exists",
		"file/x":                        "exists, or cannot be looked at",
		"link/x":                        "a symbolic link, not a directory",
		"link/new/x":                    "a symbolic link, not a directory",
		strings.Repeat("d/", 65) + "x":  "nested deeper than 64 directories",
		strings.Repeat("x", 256) + "/y": "cannot be looked at",
	} {
		err := w.checkLogs(&path)
		var f *FieldError
		if assert.ErrorAs(t, err, &f, "%.80s", path) {
			assert.Equal(t, "log-path", f.Field)
			assert.Contains(t, f.Problem, problem, "%.80s", path)
		}
	}
	for _, path := range []string{"new", "logs/x", "real/x", "new/x", strings.Repeat("d/", 64) + "x"} {
		assert.NoError(t, w.checkLogs(&path), "%.80s", path)
	}
	assert.NoDirExists(t, filepath.Join(dir, "new"), "looking makes nothing")
}
