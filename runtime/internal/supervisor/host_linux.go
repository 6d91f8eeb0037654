package supervisor

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
	"golang.org/x/sys/unix"
)

// Host is this machine's processes, as a pass over the records asks for them.
type Host struct{}

var _ jobs.Processes = Host{}

// Verify implements [jobs.Processes].
func (Host) Verify(id jobs.Identity) jobs.Verdict {
	return jobs.Verdict(proctree.Verify(proctree.Identity(id)))
}

// Members implements [jobs.Processes]. What of the leader's session cannot be
// proven to be its own is in the list too: it is shown, never signalled.
func (Host) Members(r jobs.Record) []jobs.Survivor {
	members, unproven, err := treeOf(r).Members()
	if err != nil {
		return nil
	}
	return toSurvivors(fromProcs(append(members, unproven...)))
}

// Teardown implements [jobs.Processes].
func (Host) Teardown(ctx context.Context, r jobs.Record) ([]jobs.Survivor, error) {
	o, err := treeOf(r).Teardown(ctx)
	return toSurvivors(fromProcs(o.Survivors)), err
}

// Age implements [jobs.Processes]: by the clock that the kernel stamps
// processes with, which no one can set.
func (Host) Age(id jobs.Identity) (time.Duration, bool) {
	if id.BootID == "" || id.BootID != bootID() {
		return 0, false
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		return 0, false
	}
	return time.Duration(now.Nano()) - time.Duration(id.StartTime)*tick, true
}

// tick is the unit of start times: USER_HZ is 100 on every Linux that Go has.
const tick = 10 * time.Millisecond

var bootID = sync.OnceValue(func() string {
	id, err := proctree.Capture(os.Getpid())
	if err != nil {
		return ""
	}
	return id.BootID
})

func treeOf(r jobs.Record) proctree.Tree {
	return proctree.Tree{Leader: proctree.Identity(r.Identity), Mark: r.Launch}
}

// markedLeader looks for the leader of a launch of which only the mark is
// known.
func markedLeader(mark string) (proctree.Identity, bool) {
	members, _, err := proctree.Tree{Leader: proctree.Identity{BootID: bootID()}, Mark: mark}.Members()
	if err != nil {
		return proctree.Identity{}, false
	}
	for _, p := range members {
		if p.PID == p.SID {
			return p.Identity, true
		}
	}
	return proctree.Identity{}, false
}
