package detach_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// watch registers n running commands.
func watch(r *detach.Registry, n int) []*command {
	commands := make([]*command, n)
	for i := range commands {
		commands[i] = start()
		r.Watch(detach.Work{ID: ids.Work.New()}, commands[i], writeLog)
	}
	return commands
}

func TestRegistry_ReportsSurviveAReceiverThatIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := r.Next(ctx)
			gone <- err
		}()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)
		for _, c := range watch(r, 1000) {
			c.end(shell.Exit{})
		}
		synctest.Wait()
		assert.Empty(t, outstanding(r))
		seen := map[string]bool{}
		for range 1000 {
			seen[completion(t, r).ID] = true
		}
		assert.Len(t, seen, 1000)
	})
}

func TestRegistry_AReportCanBeGivenBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		watch(r, 1)[0].end(shell.Exit{})
		got := completion(t, r)
		r.Report(got)
		remnants := r.Sweep()
		require.Len(t, remnants, 1)
		assert.Equal(t, got, *remnants[0].Finished)
	})
}

func TestRegistry_OutstandingIsOrderedByID(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		c := start()
		for _, id := range []string{"wrk_3", "wrk_1", "wrk_2"} {
			r.Watch(detach.Work{ID: id}, c, writeLog)
		}
		assert.Equal(t, []string{"wrk_1", "wrk_2", "wrk_3"}, outstanding(r))
		c.end(shell.Exit{})
		synctest.Wait()
		assert.Empty(t, r.Outstanding())
	})
}

func TestHandle_ReadsAndStops(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		c := watch(r, 1)[0]
		c.out = shell.Output{StdoutBytes: 5}
		h := r.Outstanding()[0]
		time.Sleep(2 * time.Second)
		assert.Equal(t, 2*time.Second, h.Running())
		assert.EqualValues(t, 5, h.Output().StdoutBytes)
		require.NoError(t, h.Stop(t.Context()))
		<-h.Ended()
		got := completion(t, r)
		assert.Equal(t, shell.ReasonKilled, got.Exit.Reason)
		assert.Equal(t, "error", got.Status())
		assert.Contains(t, got.Message().Text, "\nreason: killed\n")
		time.Sleep(time.Second)
		assert.Equal(t, 2*time.Second, h.Running(), "the age of one that ended stays")
		assert.NoError(t, h.Stop(t.Context()), "stopping it again changes nothing")
		assert.Equal(t, shell.ReasonKilled, c.Exit().Reason)
	})
}

func TestHandle_ActsOnNoOtherWork(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		first, second := start(), start()
		r.Watch(detach.Work{ID: "wrk_1"}, first, writeLog)
		h := r.Outstanding()[0]
		r.Sweep()
		r.Watch(detach.Work{ID: "wrk_1"}, second, writeLog)
		assert.ErrorIs(t, h.Stop(t.Context()), detach.ErrNotOutstanding)
		second.end(shell.Exit{})
		assert.Equal(t, "ok", completion(t, r).Status())
		first.end(shell.Exit{})
		requireNoReport(t, r)
	})
}

func TestSweep_RunningFinishedAndUndelivered(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		commands := watch(r, 3)
		supervised := &durable{command: start()}
		r.Watch(detach.Work{ID: "wrk_~"}, supervised, writeLog)
		r.Report(detach.LostReport{Session: "ses_0"})
		time.Sleep(12 * time.Millisecond)
		commands[1].end(shell.Exit{Code: 3})
		synctest.Wait()
		taken, err := r.Next(t.Context())
		require.NoError(t, err)
		assert.IsType(t, detach.LostReport{}, taken)

		remnants := r.Sweep()
		require.Len(t, remnants, 4)
		assert.True(t, slices.IsSortedFunc(remnants, func(a, b detach.Remnant) int { return strings.Compare(a.ID, b.ID) }))
		for i, want := range []bool{false, true, false, false} {
			assert.Equal(t, want, remnants[i].Finished != nil)
			assert.Equal(t, 12*time.Millisecond, remnants[i].RunningFor())
			assert.Equal(t, i == 3, remnants[i].Durable)
		}
		assert.Empty(t, r.Sweep(), "each is told once")
		assert.Empty(t, r.Outstanding())

		for _, c := range append(commands, supervised.command) {
			c.end(shell.Exit{})
		}
		requireNoReport(t, r)
	})
}

func TestSweep_LetsGoOfWhatRunsOn(t *testing.T) {
	r := detach.NewRegistry()
	written := func(w detach.Work, _ shell.Output, _ shell.Exit) detach.Log {
		t.Error("a log was written that the report said would not be")
		return detach.Log{}
	}
	c := start()
	r.Watch(detach.Work{ID: "wrk_1"}, c, written)
	assert.Len(t, r.Sweep(), 1)
	c.end(shell.Exit{})
	// goleak sees to it that no goroutine is left to write it.
}

func TestSweep_WaitsForALogThatIsBeingWritten(t *testing.T) {
	r, c := detach.NewRegistry(), start()
	begun, release := make(chan struct{}), make(chan struct{})
	var logs atomic.Int32
	r.Watch(detach.Work{ID: "wrk_1"}, c, func(w detach.Work, _ shell.Output, _ shell.Exit) detach.Log {
		logs.Add(1)
		close(begun)
		<-release
		return detach.Log{Path: w.LogPath(), Bytes: 7}
	})
	c.end(shell.Exit{})
	<-begun
	assert.Equal(t, []string{"wrk_1"}, outstanding(r), "it is outstanding until it is reported")
	swept := make(chan []detach.Remnant)
	go func() { swept <- r.Sweep() }()
	close(release)
	remnants := <-swept
	require.Len(t, remnants, 1)
	assert.EqualValues(t, 7, remnants[0].Finished.Log.Bytes)
	assert.EqualValues(t, 1, logs.Load())
	assert.Empty(t, r.Sweep())
}

// Whatever ends, is received or is given back while sweeps go on, each work is
// found exactly once.
func TestSweep_AtAnyInstantEachWorkIsFoundOnce(t *testing.T) {
	for range 50 {
		r := detach.NewRegistry()
		commands := watch(r, 64)
		var found sync.Map
		once := func(id string) {
			_, twice := found.LoadOrStore(id, true)
			assert.False(t, twice, id)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wait, receiving sync.WaitGroup
		receiving.Go(func() {
			for {
				report, err := r.Next(ctx)
				if err != nil {
					return
				}
				once(report.(detach.Completion).ID)
			}
		})
		wait.Go(func() {
			for _, c := range commands[:48] {
				c.end(shell.Exit{})
			}
		})
		wait.Go(func() {
			for range 3 {
				for _, left := range r.Sweep() {
					once(left.ID)
				}
			}
		})
		wait.Wait()
		for _, left := range r.Sweep() {
			once(left.ID)
		}
		cancel()
		receiving.Wait()
		for _, left := range r.Sweep() {
			once(left.ID)
		}
		count := 0
		found.Range(func(any, any) bool { count++; return true })
		require.Equal(t, 64, count)
		for _, c := range commands {
			c.end(shell.Exit{})
		}
	}
}

func TestRegistry_ThreeInTheSameInstant(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		for _, c := range watch(r, 3) {
			c.endAfter(time.Millisecond, 0)
		}
		ids := map[string]bool{}
		for range 3 {
			ids[completion(t, r).ID] = true
		}
		assert.Len(t, ids, 3)
		requireNoReport(t, r)
	})
}
