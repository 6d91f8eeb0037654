package runtime

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/wasi"
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/queue"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// SessionOptions configure one launch of a capsule. The zero value is ready to
// use.
type SessionOptions struct {
	// Workdir is the directory that the guest sees as /workdir and that its
	// commands start in. It must exist. Empty stands for that of the session
	// resumed from, or else for a fresh one below the state directory.
	Workdir string
	// Resume names the session that this one goes on from: its waiting tasks
	// and its commands, running or ended, become this session's. Work that
	// nothing accounts for is reported to the guest as lost.
	Resume string
	// Plugins are served to the guest beside the runtime's own.
	Plugins []*host.Plugin
	// Shell answers the guest's shell requests in place of real commands. For
	// tests of guests.
	Shell ShellFunc
	// GuestOutput gets a copy of what the guest writes to its standard output
	// and standard error. It is always in the session's logs/guest.log.
	GuestOutput io.Writer
	// OnEvent is called with each event as it is added to the trace, and
	// OnResult with each task's result, completions included. Both are called
	// in order, one call at a time for each, and must not block or call back
	// into the session.
	OnEvent  func(Event)
	OnResult func(TaskResult)

	testOnlyWorker func(*Session) worker
	testOnlyRetry  *retryPolicy
	testOnlyHost   func(*containment.Host)
	// testOnlyUncontained leaves commands uncontained, to measure the rest.
	testOnlyUncontained bool
}

// A Session is one launch of a capsule.
type Session struct {
	rt      *Runtime
	capsule *Capsule
	opts    SessionOptions
	id      string
	dir     string
	workdir *shell.Workdir
	started time.Time

	file     sessionFile
	old      sessionFile // of the session resumed from
	trace    *traceSink
	lock     *sessionLock
	oldLock  *sessionLock // of the session resumed from
	guestLog io.Writer
	operator io.Writer // what the operator should read
	logFiles []*os.File

	queue    *queue.Queue[*task]
	pending  *pendingStore
	inbox    *inbox
	registry *detach.Registry
	policy   *shell.Policy
	runner   shell.Runner
	durables *durables // nil if commands do not survive
	worker   worker
	hadTask  bool // the loop has run one that was not a report

	contained contained
	confirmed atomic.Bool // the trace has a receipt that is not pending

	// ctx ends when the session is aborted.
	ctx     context.Context
	abort   context.CancelFunc
	current atomic.Pointer[task]
	pumping context.Context
	endPump context.CancelFunc
	pumped  chan struct{}
	done    chan struct{}
	err     error // read after done

	// contextID is the context of what the runtime itself has to say.
	contextID string
	retry     retryPolicy
	asideMu   sync.Mutex
	aside     []*task // reports between two attempts
	onResult  sync.Mutex
	account   account
}

// ID names the session.
func (s *Session) ID() string { return s.id }

// Dir is the session's directory: its trace, its logs and captured output.
func (s *Session) Dir() string { return s.dir }

// Workdir is the real path of the session's working directory.
func (s *Session) Workdir() string { return s.workdir.Path() }

// Start launches c. The error says what is missing or cannot be used; nothing
// runs then.
func (r *Runtime) Start(ctx context.Context, c *Capsule, o SessionOptions) (*Session, error) {
	s := &Session{
		rt: r, capsule: c, opts: o, id: ids.Session.New(), started: time.Now(),
		pumped: make(chan struct{}), done: make(chan struct{}),
		contextID: ids.Context.New(), retry: defaultRetry,
	}
	s.ctx, s.abort = context.WithCancel(context.WithoutCancel(ctx))
	if o.testOnlyRetry != nil {
		s.retry = *o.testOnlyRetry
	}
	s.pumping, s.endPump = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		s.abort()
		s.endPump()
		s.release()
		s.unmake()
		return nil, err
	}
	go s.pump()
	go s.loop()
	return s, nil
}

// open makes everything that a session holds, in the order in which each needs
// the one before it.
func (s *Session) open() error {
	for _, step := range []func() error{
		s.openDir, s.openLogs, s.findOld, s.openWorkdir, s.contain, s.describe, s.openShell, s.openQueue, s.openInbox, s.awaitContained, s.announce, s.resume,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return s.rt.add(s)
}

// unmake removes what a session has that was never begun: one that is not
// written down, nobody will look for. One that is has ended.
func (s *Session) unmake() {
	if s.dir == "" {
		return
	}
	if s.file.ID != "" {
		s.file.EndedMS = time.Now().UnixMilli()
		_ = s.file.write(s.dir)
		return
	}
	_ = os.RemoveAll(s.dir)
	_ = os.Remove(s.rt.state.workdir(s.id)) // A fresh one is empty.
}

func (s *Session) openDir() error {
	s.dir = s.rt.state.session(s.id)
	for _, dir := range []string{s.dir, filepath.Join(s.dir, "logs"), s.outDir()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("cannot make the session's directory: %w", err)
		}
	}
	lock, err := lockSession(s.dir)
	if err != nil {
		return err
	}
	s.lock = lock
	return nil
}

func (s *Session) openWorkdir() (err error) {
	path := s.opts.Workdir
	if path == "" {
		path = s.old.Workdir
	}
	s.workdir, err = openWorkdir(path, s.rt.state.workdir(s.id))
	return err
}

func (s *Session) openLogs() error {
	guest, err := s.openLog("guest.log")
	if err != nil {
		return err
	}
	s.guestLog = &guestWriter{log: guest, room: maxGuestLog, copy: s.opts.GuestOutput}
	bootstrap, err := s.openLog("bootstrap.log")
	if err != nil {
		return err
	}
	s.operator = io.MultiWriter(bootstrap, s.rt.opts.Log)
	w, err := trace.Open(filepath.Join(s.dir, traceName), s.id, trace.Options{})
	if err != nil {
		return err
	}
	s.trace = &traceSink{session: s.id, w: w, notify: s.opts.OnEvent, log: s.operator}
	return nil
}

// openLog makes one of the session's logs.
func (s *Session) openLog(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "logs", name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the session's log: %w", err)
	}
	s.logFiles = append(s.logFiles, f)
	return f, nil
}

func (s *Session) openQueue() (err error) {
	if s.pending, err = openPending(filepath.Join(s.dir, pendingName)); err != nil {
		return err
	}
	lc := s.capsule.manifest.Lifecycle
	s.queue = queue.New[*task](queue.Policy{Acceptance: queue.Acceptance(lc.TaskAcceptance), Depth: lc.QueueDepth})
	s.registry = detach.NewRegistry()
	s.worker = newWorker(s)
	s.account.init()
	return nil
}

// describe writes the session down, for the operator and for a later session.
func (s *Session) describe() error {
	m := s.capsule.manifest
	s.file = sessionFile{
		ID: s.id, Capsule: m.Name, Version: m.Version, GuestSHA256: s.capsule.sha256,
		Workdir: s.workdir.Path(), Owner: os.Geteuid(), PID: os.Getpid(),
		StartedMS: s.started.UnixMilli(), ResumedFrom: s.opts.Resume,
	}
	return s.file.write(s.dir)
}

// announce begins the trace.
func (s *Session) announce() error {
	return s.trace.append(trace.Event{
		Type: trace.SessionStart, Capsule: s.file.Capsule, Version: s.file.Version, GuestSHA256: s.file.GuestSHA256,
		Workdir: s.file.Workdir, ResumedFrom: s.file.ResumedFrom, Containment: s.receiptText(),
	})
}

func (s *Session) outDir() string { return filepath.Join(s.dir, "out") }

// instantiate makes an instance of the guest with what the capsule's manifest
// and the session give it.
func (s *Session) instantiate(ctx context.Context, c host.InstanceConfig) (*host.Instance, error) {
	g := s.capsule.manifest.Guest
	c.Args = append([]string{s.capsule.manifest.Name}, g.Args...)
	c.Env = append(envList(g.Env), c.Env...)
	c.Plugins = append(c.Plugins, s.tool())
	c.Plugins = append(c.Plugins, s.opts.Plugins...)
	if c.Stdout == nil {
		c.Stdout = s.guestLog
	}
	if c.Stderr == nil {
		c.Stderr = s.guestLog
	}
	c.Workdir = s.workdir.Root()
	if s.capsule.guest.IsComponent() {
		wasi, err := componentWASI(c)
		if err != nil {
			return nil, err
		}
		c.Plugins = append(c.Plugins, wasi...)
	}
	return s.capsule.guest.Instantiate(ctx, c)
}

// componentWASI is WASI for a component. A core module gets its own from the host.
func componentWASI(c host.InstanceConfig) ([]*host.Plugin, error) {
	return wasi.Plugins(wasi.Config{
		Args: c.Args, Env: c.Env, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
		Workdir: c.Workdir, ReadOnly: c.ReadOnly,
	})
}

func (s *Session) closeInstance(i *host.Instance) { _ = i.Close(context.WithoutCancel(s.ctx)) }

// Done is closed once the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Wait waits for the session's end. The error is ctx's, or says what of the
// session's own records could not be written.
func (s *Session) Wait(ctx context.Context) error {
	select {
	case <-s.done:
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End ends the session after the task that runs now. Nothing is waited for
// beyond it, and no command is killed.
func (s *Session) End() { s.queue.Close() }

// Abort ends the session at once: the running task is cancelled.
func (s *Session) Abort() {
	s.queue.Close()
	s.abort()
}

// release frees what open took, in whatever state it is.
func (s *Session) release() {
	if s.inbox != nil {
		s.inbox.close()
	}
	if s.durables != nil {
		s.durables.close()
	} else if s.runner != nil {
		_ = s.runner.Close()
	}
	s.contained.close()
	if s.trace != nil {
		_ = s.trace.w.Close()
	}
	for _, f := range s.logFiles {
		_ = f.Close()
	}
	if s.workdir != nil {
		_ = s.workdir.Close()
	}
	for _, l := range []*sessionLock{s.lock, s.oldLock} {
		if l != nil {
			l.release()
		}
	}
}
