package shell

import (
	"os"
	"path/filepath"
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
