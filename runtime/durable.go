package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A source is the records of one session whose results this session delivers:
// its own, and those of earlier sessions that it goes on from.
type source struct {
	dir   string
	store *jobs.Store
	// runner is the connection to the session's supervisor; nil where none is
	// left, and none is needed.
	runner *supervisor.Runner
}

// pass is one look at the source's records. Whether a supervisor lives is asked
// first: one that leaves later has written every exit record by then.
func (src *source) pass() jobs.Pass {
	p := jobs.Pass{Processes: supervisor.Host{}, Now: time.Now()}
	if src.runner != nil && supervisor.Alive(src.dir) {
		p.Supervisor = src.runner
	}
	return p
}

func (src *source) close() {
	if src.runner != nil {
		_ = src.runner.Close()
	}
}

// durables are what a session knows of commands that outlive a runtime. A nil
// *durables stands for a session whose commands do not.
type durables struct {
	s     *Session
	own   *source
	kick  chan struct{}
	ctx   context.Context
	stop  context.CancelFunc
	ended chan struct{}
	// tidied is closed once nothing is removed any more.
	tidied chan struct{}

	mu      sync.Mutex
	old     []*source
	adopted []*adopted
}

// openSupervised connects the session to its supervisor.
func (s *Session) openSupervised() error {
	store, err := supervisor.Records(s.dir)
	if err != nil {
		return fmt.Errorf("cannot keep records of commands: %w", err)
	}
	d := &durables{s: s, own: &source{dir: s.dir, store: store}, kick: make(chan struct{}, 1), ended: make(chan struct{}), tidied: make(chan struct{})}
	d.ctx, d.stop = context.WithCancel(context.Background())
	o := d.options(s.dir, s.file)
	o.Containment = s.contained.profile
	d.own.runner, err = supervisor.Connect(s.ctx, o)
	if err != nil {
		return fmt.Errorf("cannot start the supervisor of the session's commands: %w", err)
	}
	s.durables, s.runner = d, d.own.runner
	go d.watch()
	go d.tidy()
	return nil
}

func (d *durables) options(dir string, f sessionFile) supervisor.Options {
	return supervisor.Options{
		Dir:        dir,
		Session:    supervisor.Session{ID: f.ID, Capsule: f.Capsule, OwnerUID: f.Owner, Workdir: f.Workdir},
		MaxRunning: d.s.capsule.manifest.Lifecycle.ShellMaxRunning,
		Missed:     d.wake,
		Log:        func(line string) { fmt.Fprintf(d.s.operator, "[capsule-runtime] %s\n", line) },
	}
}

// task tells the supervisor for which task it may start commands. A supervisor
// that does not answer refuses the commands themselves.
func (d *durables) task(id string) {
	if d != nil {
		_ = d.own.runner.Task(id)
	}
}

// wake asks for a look at the records of earlier sessions.
func (d *durables) wake() {
	select {
	case d.kick <- struct{}{}:
	default:
	}
}

// watch looks at the records of earlier sessions whenever something of theirs
// has ended, and again after a while where nobody would tell.
func (d *durables) watch() {
	defer close(d.ended)
	for {
		var again <-chan time.Time
		if d.unwatched() {
			again = time.After(lookAgainDelay)
		}
		select {
		case <-d.kick:
		case <-again:
		case <-d.ctx.Done():
			return
		}
		d.look()
	}
}

// lookAgainDelay is how long to wait before the next look at commands that no
// supervisor watches. Tests shorten it.
var lookAgainDelay = 30 * time.Second

// unwatched says whether a command runs that no supervisor has, because one died
// and its journal is gone, or that is still to be ended, because it could not be
// proven dead.
func (d *durables) unwatched() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.adopted, func(a *adopted) bool {
		return a.src.runner == nil || a.record().KillFailed > 0
	})
}

// look refreshes what runs, and lets go of what has ended.
func (d *durables) look() {
	d.mu.Lock()
	ended := slices.Clone(d.adopted)
	d.mu.Unlock()
	ended = slices.DeleteFunc(ended, func(a *adopted) bool { return !a.refresh(d.ctx) })
	d.mu.Lock()
	defer d.mu.Unlock()
	d.adopted = slices.DeleteFunc(d.adopted, func(a *adopted) bool { return slices.Contains(ended, a) })
}

// close lets go of the supervisors. It ends no command.
func (d *durables) close() {
	d.stop()
	<-d.ended
	<-d.tidied
	for _, src := range append(d.old, d.own) {
		src.close()
	}
}

// claim says whose results are this session's to deliver.
func (d *durables) claim() jobs.Claim {
	return jobs.Claim{
		Session: d.s.id, Capsule: d.s.file.Capsule, OwnerUID: os.Geteuid(), Workdir: d.s.workdir.Path(),
		Alive: d.s.alive,
	}
}

// alive says whether a runtime has the other session. The one resumed from is
// held by this session.
func (s *Session) alive(session string) bool {
	if !ids.Session.Valid(session) || session == s.old.ID {
		return false
	}
	return running(s.rt.state.session(session))
}

// adopt takes over what an earlier session left: results that are owed, and
// commands that run on.
func (d *durables) adopt(f sessionFile, dir string) error {
	store, err := supervisor.Records(dir)
	if err != nil {
		return err
	}
	src := &source{dir: dir, store: store}
	src.runner, err = supervisor.Takeover(d.ctx, d.options(dir, f))
	if busy := (*supervisor.BusyError)(nil); errors.As(err, &busy) {
		return nil // Another runtime delivers what is in there.
	} else if err != nil && !errors.Is(err, supervisor.ErrNone) {
		return err
	}
	d.mu.Lock()
	d.old = append(d.old, src)
	d.mu.Unlock()
	if err := d.accountFor(src); err != nil {
		return err
	}
	handles, asides, err := store.List()
	for _, a := range asides {
		fmt.Fprintf(d.s.operator, "[capsule-runtime] a record was set aside: %s\n", a)
	}
	mine := d.mine(handles)
	if err := d.s.carryOver(f, unwrap(mine)); err != nil {
		fmt.Fprintf(d.s.operator, "[capsule-runtime] the trace of session %s cannot be completed: %v\n", f.ID, err)
	}
	for _, h := range mine {
		d.take(src, h)
	}
	return err
}

// mine are the works that run on or are owed, if they are this session's to
// deliver.
func (d *durables) mine(handles []jobs.Handle) []jobs.Handle {
	claim := d.claim()
	return slices.DeleteFunc(handles, func(h jobs.Handle) bool {
		r := h.Record()
		return !claim.Covers(r) || r.State != jobs.Running && !claim.Owes(r)
	})
}

func unwrap(handles []jobs.Handle) []jobs.Record {
	list := make([]jobs.Record, len(handles))
	for i, h := range handles {
		list[i] = h.Record()
	}
	return list
}

// accountFor brings the records up to what is true, and says so.
func (d *durables) accountFor(src *source) error {
	start, err := src.store.Retire(d.ctx, src.pass())
	if start.Seen > 0 {
		fmt.Fprintf(d.s.operator, "[capsule-runtime] commands of an earlier session: %d seen, %d retired, %d kept\n",
			start.Seen, start.Retired, start.Kept)
	}
	if err == nil {
		_, err = src.store.Reconcile(d.ctx, src.pass())
	}
	return err
}

// take makes a work of an earlier session one of this session's.
func (d *durables) take(src *source, h jobs.Handle) {
	a := &adopted{src: src, handle: h, ended: make(chan struct{})}
	d.s.account.add(1)
	d.s.registry.Watch(adoptedWork(h.Record()), a, d.s.recordLog(h.Record()))
	if a.settle() {
		return
	}
	d.mu.Lock()
	d.adopted = append(d.adopted, a)
	d.mu.Unlock()
	// It may have ended while it was being taken.
	d.wake()
}

// adoptedWork is the work that a record is about. A task whose provenance
// cannot be told counts as untrusted.
func adoptedWork(r jobs.Record) detach.Work {
	var cause *provenance.Provenance
	if p, err := provenance.Restore(r.Origin, r.Trust); err == nil {
		cause = &p
	}
	return detach.Work{
		ID: r.WorkID, Binary: r.Binary, Command: r.Command, TaskID: r.Task, ContextID: r.ContextID,
		Provenance: provenance.Caused(provenance.Completion, cause),
		Started:    time.UnixMilli(r.StartedAt), Detached: time.UnixMilli(r.DemotedAt),
	}
}

// recordLog writes the log of a work that is known by its record alone.
func (s *Session) recordLog(r jobs.Record) detach.LogWriter {
	req := shell.Request{Command: r.Command}
	if r.LogPath != "" {
		req.LogPath = &r.LogPath
	}
	return s.workLog(req)
}
