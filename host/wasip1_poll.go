package host

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// Polls are ours, because wazero's does not know deadlines, sleeps on when the
// call is cancelled, and lets a guest have the host allocate for each of many
// millions of subscriptions.

const (
	subscriptionSize = 48
	eventSize        = 32
	maxSubscriptions = 4096

	eventClock   = 0
	eventFdRead  = 1
	eventFdWrite = 2

	clockRealtime  = 0
	clockMonotonic = 1
	flagAbstime    = 1
)

// pollOneoff waits for the first of some events. Files are always ready: those of
// a workdir never make one wait, and standard input is read as it comes.
func pollOneoff(ctx context.Context, mod api.Module, stack []uint64) {
	stack[0] = uint64(poll(ctx, mod.Memory(), uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])))
}

func poll(ctx context.Context, mem api.Memory, in, out, n, count uint32) uint32 {
	if n == 0 || n > maxSubscriptions {
		return wasiInval
	}
	subs, ok := mem.Read(in, n*subscriptionSize)
	events, ok2 := mem.Read(out, n*eventSize)
	if !ok || !ok2 {
		return wasiFault
	}
	wait, errno := earliest(subs)
	if errno != wasiSuccess {
		return errno
	}
	began := instant()
	if wait > 0 && !sleep(ctx, wait) {
		return wasiIntr
	}
	ready := writeEvents(subs, events, max(wait, time.Duration(instant()-began)))
	if !mem.WriteUint32Le(count, ready) {
		return wasiFault
	}
	return wasiSuccess
}

// A subscription is what a guest waits for.
type subscription []byte

func (s subscription) tag() byte { return s[8] }

// timeout is for how long a clock subscription waits from now on.
func (s subscription) timeout() (time.Duration, uint32) {
	clock, t := binary.LittleEndian.Uint32(s[16:]), binary.LittleEndian.Uint64(s[24:])
	flags := binary.LittleEndian.Uint16(s[40:])
	if t > math.MaxInt64 {
		t = math.MaxInt64
	}
	if flags&flagAbstime == 0 {
		return time.Duration(t), wasiSuccess
	}
	switch clock {
	case clockRealtime:
		return time.Until(time.Unix(0, int64(t))), wasiSuccess
	case clockMonotonic:
		return time.Duration(int64(t) - nanotime()), wasiSuccess
	}
	return 0, wasiInval
}

// earliest is how long the first event is away.
func earliest(subs []byte) (time.Duration, uint32) {
	wait := time.Duration(math.MaxInt64)
	for ; len(subs) > 0; subs = subs[subscriptionSize:] {
		s := subscription(subs[:subscriptionSize])
		switch s.tag() {
		case eventFdRead, eventFdWrite:
			wait = 0
		case eventClock:
			d, errno := s.timeout()
			if errno != wasiSuccess {
				return 0, errno
			}
			wait = min(wait, d)
		default:
			return 0, wasiInval
		}
	}
	return wait, wasiSuccess
}

// sleep tells whether it was not interrupted.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// writeEvents writes the events that have come, waited having passed, and gives
// their number. The subscriptions are as they were before the wait.
func writeEvents(subs, events []byte, waited time.Duration) (ready uint32) {
	for ; len(subs) > 0; subs = subs[subscriptionSize:] {
		s := subscription(subs[:subscriptionSize])
		if s.tag() == eventClock {
			if d, _ := s.timeout(); s.relative() && d > waited || !s.relative() && d > 0 {
				continue
			}
		}
		e := events[ready*eventSize:][:eventSize]
		clear(e)
		copy(e, s[:8]) // the guest's own data
		e[10] = s.tag()
		ready++
	}
	return ready
}

func (s subscription) relative() bool { return binary.LittleEndian.Uint16(s[40:])&flagAbstime == 0 }
