package shell

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/capture"
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

// Options configure an in-process runner.
type Options struct {
	// MaxRunning is how many commands may run at a time. Defaults to
	// [DefaultMaxRunning].
	MaxRunning int
	// Reaper is how the leaders' exit statuses are collected. Defaults to
	// [proctree.OwnChildren].
	Reaper proctree.Reaper
	// HoldOutput lets commands outlive this process: see
	// [capture.Capture.Hold].
	HoldOutput bool
	// Sandbox contains the commands; nil stands for no containment. It stays
	// the caller's, and must be open for as long as commands are started.
	Sandbox *containment.Sandbox
}

// InProcess runs commands as children of this process. One that runs costs
// three goroutines and no thread; they end when it does, or where it leaves
// processes that hold its output, when those do.
type InProcess struct {
	reaper proctree.Reaper
	slots  *Slots
	null   *os.File
	hold   bool
	oom    string // the commands' oom_score_adj
	closed atomic.Bool

	sandbox atomic.Pointer[containment.Sandbox]
}

var _ Runner = (*InProcess)(nil)

// NewInProcess returns a runner.
func NewInProcess(o Options) (*InProcess, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("cannot make a runner: %w", err)
	}
	r := &InProcess{reaper: o.Reaper, slots: NewSlots(o.MaxRunning), null: null, hold: o.HoldOutput, oom: oomScore()}
	if r.reaper == nil {
		r.reaper = proctree.OwnChildren{}
	}
	if o.MaxRunning == 0 {
		r.slots = NewSlots(DefaultMaxRunning)
	}
	r.Contain(o.Sandbox)
	return r, nil
}

// Contain makes s what contains the commands that are started from now on.
func (r *InProcess) Contain(s *containment.Sandbox) { r.sandbox.Store(s) }

// Close refuses further commands. Those that run are waited for as before.
func (r *InProcess) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.null.Close()
}

// Start implements [Runner]. What it returns is a [*Command].
func (r *InProcess) Start(ctx context.Context, l Launch) (Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.closed.Load() {
		return nil, ErrClosed
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := r.slots.Take(); err != nil {
		return nil, err
	}
	c, err := r.start(l)
	if err != nil {
		r.slots.Release()
		return nil, err
	}
	return c, nil
}

func (r *InProcess) start(l Launch) (*Command, error) {
	out, err := capture.Open(l.OutDir, l.Name, l.MaxOutput)
	if err != nil {
		return nil, fmt.Errorf("cannot capture the output: %w", err)
	}
	if r.hold {
		if err := out.Hold(); err != nil {
			out.Abort()
			return nil, fmt.Errorf("cannot capture the output: %w", err)
		}
	}
	s := spawn{launch: l, out: out, null: r.null, sandbox: r.sandbox.Load()}
	started := time.Now()
	leader, err := r.reaper.Spawn(l.Name, s.fork)
	if err != nil {
		out.Abort()
		s.contained.forget()
		return nil, err
	}
	s.contained.hold(leader)
	preferForOOM(leader.PID, r.oom)
	out.Start()
	return r.watch(l, leader, out, started, s.contained), nil
}

// A spawn is one command on its way from launch to process.
type spawn struct {
	launch  Launch
	out     *capture.Capture
	null    *os.File
	sandbox *containment.Sandbox
	// contained is what the sandbox started.
	contained *contained
}

// environ returns the environment with the mark by which the command's
// processes are found.
func (s *spawn) environ() []string {
	mark := proctree.MarkVar + "=" + s.launch.Name
	env := make([]string, 0, len(s.launch.Env)+1)
	for _, kv := range s.launch.Env {
		if !strings.HasPrefix(kv, proctree.MarkVar+"=") {
			env = append(env, kv)
		}
	}
	return append(env, mark)
}

// stdin returns what the command reads from. Text is put into a file in memory,
// which takes any length at once; so nobody has to feed it.
func (s *spawn) stdin() (file *os.File, done func(), err error) {
	if s.launch.Stdin == nil {
		return s.null, func() {}, nil
	}
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("stdin", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, nil, os.NewSyscallError("memfd_create", err)
	}
	written := os.NewFile(uintptr(fd), "stdin")
	defer written.Close()
	if _, err := written.Write(s.launch.Stdin); err != nil {
		return nil, nil, err
	}
	// Opened anew it can only be read, from the beginning.
	file, err = os.Open(fmt.Sprintf("/proc/self/fd/%d", written.Fd()))
	if err != nil {
		return nil, nil, err
	}
	return file, func() { file.Close() }, nil
}
