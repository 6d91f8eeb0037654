package runtime

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever looks at a session is not taken for the process that runs it, and does
// not keep that from getting it.
func TestSessionLock_lookersAreNoHolders(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var looking sync.WaitGroup
	for range 4 {
		looking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					assert.False(t, running(dir))
				}
			}
		})
	}
	for range 100 {
		assert.False(t, running(dir))
	}
	close(stop)
	looking.Wait()

	l, err := lockSession(dir)
	require.NoError(t, err)
	assert.True(t, running(dir))
	_, err = lockSession(dir)
	require.ErrorIs(t, err, errRunning)
	l.release()
	assert.False(t, running(dir))

	// One who looks for long keeps nobody out, once gone.
	look := sessionFlock(dir)
	ok, err := look.TryRLock()
	require.NoError(t, err)
	require.True(t, ok)
	got := make(chan error)
	go func() {
		l, err := lockSession(dir)
		if err == nil {
			l.release()
		}
		got <- err
	}()
	require.NoError(t, look.Close())
	require.NoError(t, <-got)
}
