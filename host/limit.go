package host

import (
	"math"
	"sync/atomic"
	"time"
)

// A meter bounds the time that a guest computes. It runs while the guest does and
// is paused while the host works for it: a guest that waits does not compute.
//
// The whole state is one number, so that the timer can read it at any time. It is
// negative while the meter is paused: the time used, and then -1. Else it is the
// instant at which the guest would have started had it never paused.
//
// Nothing is done with the timer on a host call: it fires when the limit could be
// reached at the earliest, looks, and is set anew.
type meter struct {
	limit int64 // nanoseconds; zero if there is none
	state atomic.Int64
	armed atomic.Bool
	timer *time.Timer
	now   func() int64
	// over ends the guest, if the state is still this one.
	over func(state int64) bool
}

func (m *meter) init(limit time.Duration, over func(state int64) bool) {
	m.state.Store(-1)
	if limit <= 0 {
		return
	}
	m.limit, m.over, m.now = int64(limit), over, instant
	m.timer = time.AfterFunc(math.MaxInt64, m.fire)
}

var epoch = time.Now()

// instant is now, in nanoseconds, and large enough to have been preceded by any
// time used.
func instant() int64 { return int64(time.Since(epoch)) + 1<<40 }

// reset forgets the time used.
func (m *meter) reset() {
	if m.limit == 0 {
		return
	}
	if m.state.Load() < 0 {
		m.state.Store(-1)
	} else {
		m.state.Store(m.now())
	}
}

// running tells whether the guest's time is being counted.
func (m *meter) running() bool { return m.state.Load() >= 0 }

// pause stops counting.
func (m *meter) pause() {
	if m.limit == 0 {
		return
	}
	if s := m.state.Load(); s >= 0 {
		m.state.Store(-(m.now() - s) - 1)
	}
}

// resume goes on counting.
func (m *meter) resume() {
	if m.limit == 0 {
		return
	}
	s := m.state.Load()
	if s >= 0 {
		return
	}
	used := -s - 1
	m.state.Store(m.now() - used)
	if !m.armed.Load() {
		m.armed.Store(true)
		m.arm(used)
	}
}

func (m *meter) arm(used int64) { m.timer.Reset(max(time.Duration(m.limit-used), time.Millisecond)) }

// fire looks whether the limit is reached.
func (m *meter) fire() {
	for {
		s := m.state.Load()
		if s < 0 {
			// Whoever resumes sets the timer, unless that was just before.
			m.armed.Store(false)
			if m.state.Load() < 0 || !m.armed.CompareAndSwap(false, true) {
				return
			}
			continue
		}
		if used := m.now() - s; used < m.limit {
			m.arm(used)
			return
		}
		if m.over(s) {
			return
		}
	}
}

// stop ends the meter for good.
func (m *meter) stop() {
	if m.timer != nil {
		m.timer.Stop()
	}
}
