//go:build unix

package host

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCachesOfOthersAreRefused(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []os.FileMode{0o777, 0o770, 0o702} {
		require.NoError(t, os.Chmod(dir, mode))
		_, err := NewEngine(context.Background(), Config{CacheDir: dir})
		assert.ErrorContains(t, err, "others can write to it (mode 07", "%04o", mode)
	}
	require.NoError(t, os.Chmod(dir, 0o700))
	foreign := "/"
	if os.Geteuid() == 0 {
		foreign = dir
		require.NoError(t, os.Chown(dir, 12345, 12345))
	}
	_, err := NewEngine(context.Background(), Config{CacheDir: foreign})
	assert.ErrorContains(t, err, "it belongs to user ")
}
