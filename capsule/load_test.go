package capsule_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "murmur.yaml"), minimal)
	write(t, filepath.Join(dir, "x.wasm"), "\x00asm")
	for name, path := range map[string]string{"folder": dir, "file": filepath.Join(dir, "murmur.yaml")} {
		t.Run(name, func(t *testing.T) {
			m, err := capsule.Load(path)
			require.NoError(t, err)
			assert.Equal(t, dir, m.Dir)
			assert.Equal(t, filepath.Join(dir, "x.wasm"), m.GuestPath())
		})
	}
}

func TestLoad_errors(t *testing.T) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "murmur.yaml")

	_, err := capsule.Load(filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "cannot find the capsule")

	_, err = capsule.Load(dir)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "there is no murmur.yaml in "+dir)

	write(t, manifest, minimal)
	_, err = capsule.Load(dir)
	assert.EqualError(t, err, manifest+":3:9: guest.path: there is no file "+filepath.Join(dir, "x.wasm")+" (has the guest been built?)")

	require.NoError(t, os.Mkdir(filepath.Join(dir, "x.wasm"), 0o755))
	_, err = capsule.Load(dir)
	assert.EqualError(t, err, manifest+":3:9: guest.path: "+filepath.Join(dir, "x.wasm")+" is no regular file")

	require.NoError(t, os.Remove(manifest))
	require.NoError(t, os.Mkdir(manifest, 0o755))
	_, err = capsule.Load(dir)
	assert.EqualError(t, err, "cannot read the manifest: "+manifest+" is no regular file")
}
