package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/capture"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// adopted is a command that a dead supervisor left. It is no child of this
// process: its end is seen by its identity, and its exit code by nobody.
type adopted struct {
	rec     jobs.Record
	streams streams
	capture *capture.Capture // nil if the ends are not to be had any more
	tree    proctree.Tree
	start   time.Time
	ended   chan struct{}
	exit    shell.Exit

	stop sync.Once
	// torn is closed when a teardown is over; the fields below are set by then.
	torn      chan struct{}
	why       shell.Reason
	survivors []shell.Survivor
	stopErr   error
}

func adopt(r jobs.Record, s streams) *adopted {
	a := &adopted{
		rec: r, streams: s, tree: treeOf(r), start: time.UnixMilli(r.StartedAt),
		ended: make(chan struct{}), torn: make(chan struct{}),
	}
	if c, ok := recapture(a.tree, r.Launch, s); ok {
		a.capture = c
		c.Start()
	}
	go a.run()
	return a
}

func (a *adopted) Ended() <-chan struct{}      { return a.ended }
func (a *adopted) Exit() shell.Exit            { return a.exit }
func (a *adopted) Started() time.Time          { return a.start }
func (a *adopted) Identity() proctree.Identity { return a.tree.Leader }

func (a *adopted) Pipes() [2]uint64 { return a.streams.Pipes }

// Output measures the files where nothing is captured any more: what was
// dropped is not known then.
func (a *adopted) Output() shell.Output {
	if a.capture == nil {
		dir, name := a.streams.Dir, a.rec.Launch
		o := shell.Output{
			StdoutPath: filepath.Join(dir, name+capture.StdoutSuffix),
			StderrPath: filepath.Join(dir, name+capture.StderrSuffix),
		}
		o.StdoutBytes, o.StderrBytes = fileSize(o.StdoutPath), fileSize(o.StderrPath)
		return o
	}
	st := a.capture.State()
	return shell.Output{
		StdoutPath: st.StdoutPath, StderrPath: st.StderrPath,
		StdoutBytes: st.StdoutBytes, StderrBytes: st.StderrBytes, Truncated: st.Truncated,
	}
}

// run watches the session to its end.
func (a *adopted) run() {
	defer close(a.ended)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if left, bounded := a.left(); bounded {
		limit := time.AfterFunc(left, func() { a.tearDown(shell.ReasonTimedOut) })
		defer limit.Stop()
	}
	go func() { // A teardown that leaves survivors ends the watch.
		select {
		case <-a.torn:
			cancel()
		case <-ctx.Done():
		}
	}()
	a.exit = a.watch(ctx)
	if a.capture != nil {
		a.capture.Finish()
	}
	a.exit.Duration = time.Since(a.start)
}

// left is the time until the limit, by the clock of the machine.
func (a *adopted) left() (time.Duration, bool) {
	if a.rec.MaxRuntimeMS == 0 {
		return 0, false
	}
	age, ok := Host{}.Age(a.rec.Identity)
	if !ok {
		age = time.Since(a.start)
	}
	return a.rec.MaxRuntime() - age, true
}

func (a *adopted) watch(ctx context.Context) shell.Exit {
	exit := shell.Exit{Code: -1, Reason: shell.ReasonDied}
	left, survivors, err := a.waitSession(ctx)
	exit.LeftRunning, exit.Survivors = fromProcs(left), fromProcs(survivors)
	if err != nil && ctx.Err() == nil {
		exit.WaitErr = err.Error()
	}
	a.stop.Do(func() { close(a.torn) }) // From here on nothing is torn down.
	<-a.torn
	if a.why != "" {
		exit.Reason, exit.Survivors, exit.LeftRunning = a.why, a.survivors, nil
	}
	return exit
}

// waitSession returns once no process that is provably of the leader's session
// is alive: with what it left in other sessions, and with what has the leader's
// session number and cannot be told apart from a bystander.
func (a *adopted) waitSession(ctx context.Context) (left, unproven []proctree.Proc, err error) {
	for {
		members, unproven, err := a.tree.Members()
		if err != nil {
			return nil, nil, err
		}
		var inside bool
		left = left[:0]
		for _, p := range members {
			if p.SID != a.tree.Leader.PID {
				left = append(left, p)
				continue
			}
			inside = true
			p.PGID = 0 // It may change its group while we wait.
			if err := waitExit(ctx, p.Identity); err != nil {
				return nil, nil, err
			}
		}
		if !inside {
			return left, unproven, nil
		}
	}
}

func waitExit(ctx context.Context, id proctree.Identity) error {
	h, err := proctree.Open(id)
	if v := (*proctree.VerdictError)(nil); errors.As(err, &v) && v.Verdict != proctree.Unverifiable {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(h.Wait(ctx), h.Close())
}

// Stop implements shell.Process.
func (a *adopted) Stop(_ context.Context, why shell.Reason) error {
	a.tearDown(why)
	<-a.ended
	return a.stopErr
}

func fileSize(path string) int64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (a *adopted) tearDown(why shell.Reason) {
	a.stop.Do(func() {
		defer close(a.torn)
		o, err := a.tree.Teardown(context.Background())
		a.why, a.survivors, a.stopErr = why, fromProcs(o.Survivors), err
	})
}
