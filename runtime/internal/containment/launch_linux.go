package containment

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// onThread runs fn on an operating-system thread of its own, which ends with it:
// what fn did to the thread stays with no other code.
func onThread(fn func() error) error {
	done := make(chan error, 1)
	go lockedAway(func() { done <- fn() })
	return <-done
}

// lockedAway runs fn locked to a thread that is never unlocked, so that the
// runtime ends it. The main thread cannot end, and its credentials stand for the
// whole process; a goroutine that finds itself there starts another and keeps
// the thread busy meanwhile.
func lockedAway(fn func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		fn()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		lockedAway(fn)
	}()
	<-done
	runtime.UnlockOSThread()
}

// launch starts f from a thread that enter has restricted. With hold, settle is
// called while the child stands at its exec, before its first instruction;
// without, right after. Settle runs on an unrestricted thread.
func launch(f *fork, hold bool, enter func() error, settle func(pid int) error) error {
	f.attr.Sys.Ptrace = hold
	started, release := make(chan error, 1), make(chan struct{})
	defer close(release)
	go lockedAway(func() {
		err := enter()
		if err == nil {
			err = f.exec()
		}
		started <- err
		// The thread is the child's tracer, and its end is what lets the child
		// go. That is more than thrift: a restricted thread of this process is in
		// the command's own Landlock domain, so a command that ran while it lives
		// could trace it, and be us.
		<-release
	})
	err := <-started
	if err != nil {
		return err
	}
	if hold {
		err = awaitHold(f.pid)
	}
	if err == nil {
		err = settle(f.pid)
	}
	if err != nil {
		f.undo()
	}
	return err
}

// undo ends and reaps what was started, and closes its pidfd.
func (f *fork) undo() {
	_ = unix.Kill(f.pid, unix.SIGKILL)
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(f.pid, &ws, syscall.WALL, nil)
		if err == nil && ws.Stopped() || errors.Is(err, syscall.EINTR) {
			continue
		}
		break
	}
	if fd := f.attr.Sys.PidFD; fd != nil && *fd >= 0 {
		_ = unix.Close(*fd)
		*fd = -1
	}
}

// awaitHold waits until the child stands at its exec. Taking its wait status
// also clears the signal it stopped for, which its release would deliver else.
func awaitHold(pid int) error {
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(pid, &ws, syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("cannot hold process %d at its exec: %w", pid, err)
		case !ws.Stopped():
			return fmt.Errorf("cannot hold process %d at its exec: it ended (%#x)", pid, int(ws))
		}
		return nil
	}
}

// closeOnExec keeps descriptors that this process inherited, or that were opened
// by other code without the flag, out of commands.
func closeOnExec() error {
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("cannot keep descriptors out of the command: %w", err)
	}
	return nil
}

// An rlimit is one limit to set.
type rlimit struct {
	name      string
	resource  int
	soft, max int64
}

// rlimits are the limits of a profile. Soft and hard are the same, so that the
// command cannot raise them; the processor time has five seconds between, in
// which SIGXCPU can be handled.
func rlimits(p Profile) []rlimit {
	l := p.Limits
	list := []rlimit{
		{"max_open_files", unix.RLIMIT_NOFILE, l.MaxOpenFiles, l.MaxOpenFiles},
		{"max_file_size_bytes", unix.RLIMIT_FSIZE, l.MaxFileSizeBytes, l.MaxFileSizeBytes},
		{"cpu_seconds", unix.RLIMIT_CPU, l.CPUSeconds, l.CPUSeconds + 5},
		// A core file would be a copy of memory in a place of the host's choice.
		{"core", unix.RLIMIT_CORE, 0, 0},
	}
	if l.MemoryBytes > 0 {
		list = append(list, rlimit{"memory_bytes", unix.RLIMIT_AS, l.MemoryBytes, l.MemoryBytes})
	}
	if p.ProcessRlimit {
		list = append(list, rlimit{"max_processes", unix.RLIMIT_NPROC, l.MaxProcesses, l.MaxProcesses})
	}
	return list
}

// setRlimits sets the limits of process pid. A process of another user takes
// CAP_SYS_RESOURCE, which root in a container lacks, or a thread of that user.
func setRlimits(pid int, p Profile) error {
	set := func() error {
		for _, r := range rlimits(p) {
			if err := setRlimit(pid, r.resource, uint64(r.soft), uint64(r.max)); err != nil {
				return fmt.Errorf("cannot set %s: %w", r.name, err)
			}
		}
		return nil
	}
	if p.UID == 0 {
		return set()
	}
	return onThread(func() error {
		if err := changeUser(p.UID); err != nil {
			return err
		}
		return set()
	})
}

// setRlimit sets one limit, never above what the process already has: only root
// may raise a hard limit.
func setRlimit(pid, resource int, soft, hard uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &old); err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: min(soft, old.Max), Max: min(hard, old.Max)}
	return unix.Prlimit(pid, resource, &limit, nil)
}

// exists tells whether path is there.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
