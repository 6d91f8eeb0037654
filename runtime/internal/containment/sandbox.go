package containment

import (
	"fmt"
	"os/exec"
	"sync/atomic"
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

// Start starts cmd under the profile. Name is unique among the sandbox's living
// commands and safe as a file name.
//
// Cmd is as for [exec.Cmd.Start], with real paths; its Path, Args, Env, Dir and
// SysProcAttr may be changed. What it opens by name, as an output file, must be
// open before: under scoped the start itself is already restricted. It must not
// set Pdeathsig, which fires when the forking thread ends, and that is at once.
// Descriptors of the calling process beyond 0, 1 and 2 are made close-on-exec.
//
// An error means that nothing runs. A process that reaps every child must not
// do so while Start runs: wait reports the moment in which the child is held.
//
// Under sealed, cmd.Process is the init of the command's namespaces: it ends
// when the command has ended, with its exit code, and takes along what is left.
func (s *Sandbox) Start(cmd *exec.Cmd, name string) (*Command, error) {
	c := &Command{sandbox: s, name: name}
	if err := s.start(cmd, c); err != nil {
		return nil, err
	}
	r := s.profile.Receipt.Confirmed(c.verified)
	s.seen.CompareAndSwap(nil, &r)
	c.receipt = r
	return c, nil
}

// A Command is one command that was started in a sandbox.
type Command struct {
	sandbox  *Sandbox
	name     string
	receipt  Receipt
	verified *Verified
	running
}

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
