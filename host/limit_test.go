package host

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A testMeter has a clock that the test sets, and a timer that the test fires.
type testMeter struct {
	meter
	clock int64
	ended int
}

func newTestMeter(limit int64) *testMeter {
	m := &testMeter{clock: 1 << 40}
	m.init(time.Hour, func(state int64) bool {
		if m.state.Load() != state {
			return false
		}
		m.ended++
		return true
	})
	m.limit = limit
	m.now = func() int64 { return m.clock }
	return m
}

func TestMeterCountsTheGuestsTimeOnly(t *testing.T) {
	m := newTestMeter(100)
	defer m.stop()
	m.resume()
	m.clock += 60
	m.pause()
	m.clock += 1_000_000 // the host works
	m.fire()
	assert.Zero(t, m.ended)
	m.resume()
	m.clock += 39
	m.fire()
	assert.Zero(t, m.ended, "99 of 100 are used")
	m.clock++
	m.fire()
	assert.Equal(t, 1, m.ended)
}

func TestMeterResets(t *testing.T) {
	m := newTestMeter(100)
	defer m.stop()
	m.resume()
	m.clock += 90
	m.pause()
	m.reset()
	m.resume()
	m.clock += 90
	m.fire()
	assert.Zero(t, m.ended)
	m.reset() // while it runs
	m.clock += 90
	m.fire()
	assert.Zero(t, m.ended)
	m.clock += 10
	m.fire()
	assert.Equal(t, 1, m.ended)
}

func TestMeterIsUnmovedByPausingTwice(t *testing.T) {
	m := newTestMeter(100)
	defer m.stop()
	m.resume()
	m.resume()
	m.clock += 50
	m.pause()
	m.clock += 500
	m.pause()
	m.resume()
	m.clock += 49
	m.fire()
	assert.Zero(t, m.ended)
}

// TestMeterTimerSleepsWhilePaused: a timer that fires into a pause is not set
// again until the guest goes on.
func TestMeterTimerSleepsWhilePaused(t *testing.T) {
	m := newTestMeter(100)
	defer m.stop()
	m.resume()
	assert.True(t, m.armed.Load())
	m.pause()
	m.fire()
	assert.False(t, m.armed.Load())
	m.resume()
	assert.True(t, m.armed.Load())
}

// TestMeterOfAnotherCall: a limit that is found to be reached, but of a call that
// has paused since, ends nothing.
func TestMeterOfAnotherCall(t *testing.T) {
	m := newTestMeter(100)
	defer m.stop()
	m.over = func(int64) bool {
		m.pause()
		m.reset()
		return false
	}
	m.resume()
	m.clock += 200
	m.fire()
	assert.False(t, m.armed.Load(), "it looked again, and found a pause")
}

func TestMeterWithoutALimit(t *testing.T) {
	var m meter
	m.init(0, nil)
	m.resume()
	m.pause()
	m.reset()
	m.stop()
	assert.Nil(t, m.timer)
}

// waiter is a guest that calls an import which waits, and then echoes.
func waiter(t *testing.T, limit time.Duration, wait func(ctx context.Context, i *Instance) error) *Instance {
	t.Helper()
	m := &module{pages: []byte{0, 1}}
	imp := m.imp("test:host/calls", "wait", ":")
	m.def(reallocExport, reallocSig, 1, bump...)
	m.def(handleExport, handleSig, 2, code([]byte{0x10, imp}, echo)...)
	p := NewPlugin("test:host/calls", Proc0("wait", func(ctx context.Context) error { return wait(ctx, instanceOf(ctx)) }))
	return instantiate(t, load(t, m.bytes(), LoadOptions{ComputeLimit: limit}), InstanceConfig{Plugins: []*Plugin{p}})
}

// TestWaitingIsNotComputing: a host call lasts until the limit would have been
// over, and the guest goes on.
func TestWaitingIsNotComputing(t *testing.T) {
	i := waiter(t, 300*time.Millisecond, func(_ context.Context, i *Instance) error {
		for i.meter.armed.Load() { // until the timer has fired into the pause
			runtime.Gosched()
		}
		return nil
	})
	text, _, err := i.Handle(context.Background(), Task{Message: "x"})
	require.NoError(t, err)
	assert.Equal(t, "x", text)
}

func TestResetCompute(t *testing.T) {
	i := waiter(t, time.Minute, func(_ context.Context, i *Instance) error {
		used := i.meter.state.Load()
		i.ResetCompute()
		if used >= -1 || i.meter.state.Load() != -1 {
			t.Error("the meter should be paused, have counted, and be reset")
		}
		return nil
	})
	_, _, err := i.Handle(context.Background(), Task{})
	require.NoError(t, err)
}

// TestComputeLimitOfACommand bounds a guest that runs without any call.
func TestComputeLimitOfACommand(t *testing.T) {
	m := &module{}
	m.def(startExport, ":", 0, 0x03, 0x40, 0x0c, 0, 0x0b)
	i := instantiate(t, load(t, m.bytes(), LoadOptions{ComputeLimit: 50 * time.Millisecond}), InstanceConfig{})
	_, err := i.RunCommand(context.Background())
	assert.ErrorIs(t, err, ErrComputeLimit)
	assert.EqualError(t, err, "the guest reached its compute limit of 50ms (in _start)")
}
