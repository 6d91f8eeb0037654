// Package proctree knows processes by what they are, not by their number: which
// one a record means, which ones belong to a command, when the last of a
// session has gone, and how to end them all.
//
// A pid is reused within seconds on a busy machine, so nothing here acts on a
// bare pid. A process is named by an [Identity]; it is signalled only through a
// pidfd that was opened first and whose process was then proven to be the one
// meant. Processes 0 and 1 and the caller itself are never signalled.
//
// # When a session is empty
//
// A command ends when no process of its leader's kernel session is alive. The
// kernel offers nothing to wait on for that, and a scan of /proc races with
// fork. What it does offer is that the number of a process stays taken for as
// long as any process has it as its pid, process group or session, zombies
// included. So once the leader has been reaped, "is this number taken?" is
// "does anyone still hold the session?", answered at one instant: fcntl(2) with
// F_SETOWN refuses a number that is free with ESRCH, and does nothing else to a
// descriptor without O_ASYNC. That is the proof on the fast path, for half a
// microsecond. A number that is still taken says only "perhaps": then /proc
// names the members, each is waited for through its pidfd, and the question is
// put again.
//
// # What a session leaves behind
//
// Processes that called setsid carry the mark that their command started with
// in its environment, and all are younger than the leader. If the last pid that
// the kernel gave out is the leader's own while the leader is not reaped yet,
// then nothing was forked meanwhile, and there is nothing to look for. For a
// short command the pids given out since are few and are looked at one by one.
// For a long one /proc is scanned; callers that ask at the same time share a
// scan.
//
// Linux only; elsewhere every identity is unverifiable and nothing is signalled.
package proctree

import (
	"errors"
	"fmt"
)

// MarkVar is the environment variable by whose value a command's processes are
// found again after they have left its session.
const MarkVar = "MURMUR_WORK"

// ErrUnsupported is returned where the platform cannot tell processes apart.
var ErrUnsupported = errors.New("processes cannot be identified on this platform")

// An Identity names one process for good.
type Identity struct {
	PID int `json:"pid"`
	// StartTime is in clock ticks since boot.
	StartTime uint64 `json:"start_time"`
	// BootID is the kernel's random id of this boot.
	BootID string `json:"boot_id"`
	// PGID is the process group, or 0 if it does not matter.
	PGID int `json:"pgid,omitempty"`
}

func (id Identity) String() string {
	return fmt.Sprintf("pid %d started at tick %d", id.PID, id.StartTime)
}

// A Verdict says what became of the process that an [Identity] names.
type Verdict string

// The verdicts. Only an owned process may be signalled.
const (
	// Owned means that the process lives and is the one meant.
	Owned Verdict = "owned"
	// Gone means that no process has the pid, that a zombie has it, or that
	// the machine has been booted since.
	Gone Verdict = "gone"
	// Foreign means that another process has the pid.
	Foreign Verdict = "foreign"
	// Unverifiable means that it cannot be told.
	Unverifiable Verdict = "unverifiable"
)

// A VerdictError is returned by what needs an owned process and has none.
type VerdictError struct {
	Identity Identity
	Verdict  Verdict
}

func (e *VerdictError) Error() string {
	return fmt.Sprintf("cannot act on %s: it is %s", e.Identity, e.Verdict)
}

// A Proc is a process as it was seen at one instant.
type Proc struct {
	Identity
	PPID, SID int
	// Name is what the process calls itself, and so any bytes at all.
	Name string
	// Zombie says that all its threads have exited.
	Zombie bool
	// Stopped says that a signal has stopped it.
	Stopped bool
	// Kernel says that it is a thread of the kernel's.
	Kernel bool
}
