package containment

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuota_Check(t *testing.T) {
	dir := t.TempDir()
	q := NewQuota(dir, 10)
	require.NoError(t, q.Check(t.Context()))

	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "a"), make([]byte, 11), 0o600))
	q.next = time.Time{}
	err := q.Check(t.Context())
	var full *FullError
	require.ErrorAs(t, err, &full)
	require.Equal(t, FullError{Dir: dir, Bytes: 11, Max: 10}, *full)

	require.NoError(t, os.Remove(filepath.Join(dir, "sub", "a")))
	require.NoError(t, q.Check(t.Context()), "a full workdir is measured each time")
}

func TestQuota_Check_repeatsItsAnswer(t *testing.T) {
	dir := t.TempDir()
	now := time.Unix(100, 0)
	q := NewQuota(dir, 10)
	q.now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	require.NoError(t, q.Check(t.Context()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), make([]byte, 11), 0o600))
	require.NoError(t, q.Check(t.Context()), "measuring took a second: not again for ten")
	now = now.Add(10 * time.Second)
	require.Error(t, q.Check(t.Context()))
}

func TestQuota_Check_hostile(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "big")
	require.NoError(t, os.WriteFile(outside, make([]byte, 100), 0o600))
	dir := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("/", filepath.Join(dir, "root")))
	require.NoError(t, NewQuota(dir, 10).Check(t.Context()), "links are not followed")

	require.NoError(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", maxDepth+2)), 0o755))
	require.ErrorContains(t, NewQuota(dir, 10).Check(t.Context()), "too deep")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, NewQuota(dir, 10).Check(ctx), context.Canceled)
	require.Error(t, NewQuota(filepath.Join(dir, "gone"), 10).Check(t.Context()))
}
