//go:build unix

package regular

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpenFile_onlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("text"), 0o600))
	require.NoError(t, os.Mkdir(at("dir"), 0o700))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink(os.DevNull, at("device")))

	for _, how := range []struct {
		name string
		flag int
	}{
		{"read", os.O_RDONLY}, {"write", os.O_WRONLY | os.O_CREATE}, {"both", os.O_RDWR | os.O_CREATE | os.O_APPEND},
	} {
		for name, problem := range map[string]string{
			"file": "", "dir": "a directory", "pipe": "a named pipe", "link": "a symbolic link", "device": "a symbolic link",
		} {
			t.Run(how.name+" "+name, func(t *testing.T) {
				f, err := OpenFile(at(name), how.flag, 0o600)
				if problem == "" {
					require.NoError(t, err)
					require.NoError(t, f.Close())
					return
				}
				assert.ErrorContains(t, err, "it is "+problem+", not a regular file")
				assert.ErrorContains(t, err, at(name))
			})
		}
	}
}

func TestOpen_device(t *testing.T) {
	_, err := Open(os.DevNull)
	assert.ErrorContains(t, err, "a device")
}

func TestOpen_nothingThere(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
