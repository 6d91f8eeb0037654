package proctree

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (t *table) has(pid int) bool {
	for _, p := range t.procs {
		if p.PID == pid {
			return true
		}
	}
	return false
}

// TestScanBeginsAfterItWasAskedFor: a scan may be shared, but a process that was
// there before somebody asked is in what that one gets.
func TestScanBeginsAfterItWasAskedFor(t *testing.T) {
	var all sync.WaitGroup
	for range 20 {
		s := start(t, "echo; exec sleep 60")
		s.line()
		all.Go(func() {
			seen, err := scans.scan()
			if assert.NoError(t, err) {
				assert.True(t, seen.has(s.PID))
				assert.True(t, seen.has(os.Getpid()))
				assert.Equal(t, mark{s.Mark, true}, seen.mark(Proc{Identity: s.Identity}))
			}
			kill(t, s.Identity)
			_, err = s.Wait(context.Background())
			assert.NoError(t, err)
		})
	}
	all.Wait()
}

func BenchmarkScan(b *testing.B) {
	for b.Loop() {
		_, err := scanProc()
		require.NoError(b, err)
	}
}

// BenchmarkProof is what a command that forked nothing pays for the proof that
// nothing is left of it.
func BenchmarkProof(b *testing.B) {
	for b.Loop() {
		lastPID()
		numberFree(1)
	}
}
