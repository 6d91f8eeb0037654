package wasi

import (
	"context"
	"math"
	"time"

	"github.com/murmur-capsule/murmur/host"
)

// An instant is a time of the monotonic clock in nanoseconds. It began before the
// process did, so that guests may reckon back from it.
type instant = uint64

var epoch = time.Now().Add(-time.Hour)

func now() instant { return instant(time.Since(epoch)) }

// until is how long it is until t; never less than nothing, never more than a
// timer can wait.
func until(t instant) time.Duration {
	n := now()
	if t <= n {
		return 0
	}
	return time.Duration(min(t-n, math.MaxInt64))
}

// after is the instant d after t, or the last one.
func after(t instant, d uint64) instant {
	if d > math.MaxUint64-t {
		return math.MaxUint64
	}
	return t + d
}

// A guest may ask for the time even while its allocator runs, and wait for it:
// see host.DuringRealloc.
var monotonicClockPlugin = host.NewPlugin(named("wasi:clocks/monotonic-clock"), pollableResource.Used(),
	host.DuringRealloc(host.Func0("now", func(context.Context) (instant, error) { return now(), nil })),
	host.DuringRealloc(host.Func0("resolution", func(context.Context) (uint64, error) { return 1, nil })),
	host.DuringRealloc(host.Method1("subscribe-instant", func(i *instance, _ context.Context, t instant) (host.Own[*pollable], error) {
		return i.at(t), nil
	})),
	host.DuringRealloc(host.Method1("subscribe-duration", func(i *instance, _ context.Context, d uint64) (host.Own[*pollable], error) {
		return i.at(after(now(), d)), nil
	})),
)

func (i *instance) at(t instant) host.Own[*pollable] {
	return host.Own[*pollable]{Value: &pollable{i: i, when: t}}
}

// A datetime is a time of the wall clock since 1970.
type datetime struct {
	Seconds     uint64
	Nanoseconds uint32
}

func datetimeOf(t time.Time) datetime {
	return datetime{uint64(max(t.Unix(), 0)), uint32(t.Nanosecond())}
}

var wallClockPlugin = host.NewPlugin(named("wasi:clocks/wall-clock"),
	host.DuringRealloc(host.Func0("now", func(context.Context) (datetime, error) { return datetimeOf(time.Now()), nil })),
	host.DuringRealloc(host.Func0("resolution", func(context.Context) (datetime, error) { return datetime{Nanoseconds: 1000}, nil })),
)

// A timezoneDisplay is what there is to be told of a time zone.
type timezoneDisplay struct {
	UTCOffset            int32
	Name                 string
	InDaylightSavingTime bool
}

// Guests live in UTC.
var timezonePlugin = host.NewPlugin(named("wasi:clocks/timezone"),
	host.Func1("display", func(context.Context, datetime) (timezoneDisplay, error) { return timezoneDisplay{Name: "UTC"}, nil }),
	host.Func1("utc-offset", func(context.Context, datetime) (int32, error) { return 0, nil }),
)
