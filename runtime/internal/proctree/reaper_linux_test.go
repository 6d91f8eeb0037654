package proctree

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSpawnPassesTheErrorOn(t *testing.T) {
	failed := errors.New("no fork")
	_, err := policy.Spawn("m", func() (Forked, error) { return Forked{}, failed })
	require.ErrorIs(t, err, failed)
}

// TestOrphanIsReaped: a subreaper inherits what a command leaves, and leaves no
// zombie.
func TestOrphanIsReaped(t *testing.T) {
	if policy == Reaper(OwnChildren{}) {
		return // TestSubreaper runs it again as one
	}
	s := start(t, `(setsid bash -c 'echo $$; exec sleep 60' &); exit 0`)
	daemon := s.pid()
	require.Equal(t, []int{daemon.PID}, pids(s.end().Left))
	p, err := lookup(daemon.PID)
	require.NoError(t, err)
	require.Equal(t, os.Getpid(), p.PPID)
	kill(t, daemon)
	require.Eventually(t, func() bool { return numberFree(daemon.PID) }, time.Minute, time.Millisecond)
}
