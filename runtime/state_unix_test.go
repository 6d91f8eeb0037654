//go:build unix

package runtime

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is found is taken as it is, or refused: somebody else's directory must
// not be locked up by naming it.
func TestOpenState_changesNothing(t *testing.T) {
	for _, c := range []struct {
		name    string
		modes   map[string]fs.FileMode
		problem string
	}{
		{"private", map[string]fs.FileMode{".": 0o700}, ""},
		{"readable", map[string]fs.FileMode{".": 0o755}, ""},
		{"writable", map[string]fs.FileMode{".": 0o777}, "is open to others (mode 0777)"},
		{"of a group", map[string]fs.FileMode{".": 0o770}, "is open to others (mode 0770)"},
		{"sticky", map[string]fs.FileMode{".": 0o777 | fs.ModeSticky}, "is open to others"},
		{"readable sessions", map[string]fs.FileMode{".": 0o700, "sessions": 0o755}, "sessions is open to others (mode 0755)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			for _, name := range []string{".", "sessions"} {
				if mode, ok := c.modes[name]; ok {
					require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
					require.NoError(t, os.Chmod(filepath.Join(dir, name), mode))
				}
			}
			_, err := openState(dir)
			if c.problem == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.problem)
			}
			for name, mode := range c.modes {
				info, err := os.Stat(filepath.Join(dir, name))
				require.NoError(t, err)
				assert.Equal(t, mode, info.Mode()&^fs.ModeDir, name)
			}
		})
	}
}

func TestOpenState_made(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "state")
	_, err := openState(dir)
	require.NoError(t, err)
	for _, name := range []string{".", "sessions", "workdirs"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), name)
	}
}

func TestOpenState_unusable(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for name, problem := range map[string]string{
		"link": "is a symbolic link; name what it leads to", "file": "not a directory", "x\xff": "not valid UTF-8",
	} {
		_, err := openState(filepath.Join(dir, name))
		assert.ErrorContains(t, err, problem)
	}
}

// A crash must leave no task's text where it is not looked for.
func TestWriteAtomic_staysInItsDirectory(t *testing.T) {
	elsewhere := t.TempDir()
	t.Setenv("TMPDIR", elsewhere)
	require.NoError(t, os.Chmod(elsewhere, 0o700))
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "taken"), 0o700))
	require.NoError(t, writeAtomic(filepath.Join(dir, "file"), []byte("text")))
	// What cannot be renamed shows where it was.
	err := writeAtomic(filepath.Join(dir, "taken"), []byte("text"))
	require.Error(t, err)
	assert.Contains(t, err.Error(), dir+"/.taken")
	left, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	assert.Empty(t, left)
}
