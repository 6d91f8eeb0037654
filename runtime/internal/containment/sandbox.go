package containment

import (
	"fmt"
	"sync/atomic"
	"syscall"
)

// A Sandbox starts commands under one profile. It is safe for concurrent use.
type Sandbox struct {
	profile Profile
	// seen is the receipt once a command has run; nil while it is pending.
	seen atomic.Pointer[Receipt]
	enforcer
}

// Open prepares what commands under p share: rules, filters, namespaces. It
// restricts nothing in the calling process. Close releases it.
func Open(p Profile) (*Sandbox, error) {
	s := &Sandbox{profile: p}
	if err := s.open(p); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("cannot prepare containment class %s: %w", p.Class, err)
	}
	return s, nil
}

// Profile is the profile that the sandbox enforces.
func (s *Sandbox) Profile() Profile { return s.profile }

// Receipt is the session's receipt: pending until a command has been seen
// running.
func (s *Sandbox) Receipt() Receipt {
	if r := s.seen.Load(); r != nil {
		return *r
	}
	return s.profile.Receipt
}

// Start starts a program under the profile, as [syscall.StartProcess] does. Name
// is unique among the sandbox's living commands and safe as a file name; the
// command's control group bears it.
//
// Attr has at least three files, and names what it opens by descriptor: under
// scoped the start itself is already restricted. Attr.Sys must not set
// Pdeathsig, which fires when the forking thread ends, and that is at once; it
// may ask for a pidfd. Under sealed attr.Dir is the real path of a directory in
// the workdir, which is looked up inside the root. Descriptors of this process
// beyond 0, 1 and 2 are made close-on-exec.
//
// An error means that nothing runs and no descriptor was left. A process that
// reaps every child must not do so while Start runs: wait reports the moment in
// which the child is held.
//
// Where sealed has no session-wide namespaces (see [Profile]), the process that
// starts is the init of the command's own: it ends when the command has ended,
// with its exit code, and takes along what is left.
func (s *Sandbox) Start(path string, argv []string, attr *syscall.ProcAttr, name string) (*Command, error) {
	if len(attr.Files) < 3 {
		return nil, fmt.Errorf("internal error: %s has %d of three streams", path, len(attr.Files))
	}
	f := fork{path: path, argv: argv, attr: *attr}
	var sys syscall.SysProcAttr
	if attr.Sys != nil {
		sys = *attr.Sys
	}
	f.attr.Sys = &sys
	c := &Command{sandbox: s, name: name}
	if err := s.start(&f, c); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", path, err)
	}
	c.pid = f.pid
	r := s.profile.Receipt.Confirmed(c.verified)
	s.seen.CompareAndSwap(nil, &r)
	c.receipt = r
	return c, nil
}

// A fork is one program to start, and its process once it has been.
type fork struct {
	path string
	argv []string
	attr syscall.ProcAttr
	pid  int
}

// exec starts the program from the calling thread.
func (f *fork) exec() (err error) {
	f.pid, _, err = syscall.StartProcess(f.path, f.argv, &f.attr)
	return err
}

// A Command is one command that was started in a sandbox.
type Command struct {
	sandbox  *Sandbox
	name     string
	pid      int
	receipt  Receipt
	verified *Verified
	running
}

// PID is the process that was started. The caller waits for it.
func (c *Command) PID() int { return c.pid }

// Receipt is what was enforced on this command.
func (c *Command) Receipt() Receipt { return c.receipt }

// An End tells how a command ended, as its exit status and its group have it.
type End struct {
	// Code is the exit code, or 128+n after signal n.
	Code int
	// Signal names the signal that ended the command, as in "SIGKILL".
	Signal string
	// Limit names the resource limit that the command met, where the kernel
	// says so; a cause that is unknown stays unknown.
	Limit string
}

// The limits that an [End] can name.
const (
	LimitCPU      = "cpu_seconds"
	LimitFileSize = "max_file_size_bytes"
	LimitMemory   = "cgroup_memory_bytes"
	LimitPids     = "cgroup_pids_max"
)
