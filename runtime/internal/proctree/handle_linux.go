package proctree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pidfdProcessGroup makes pidfd_send_signal(2) signal the process group that
// the pidfd's process leads or led (PIDFD_SIGNAL_PROCESS_GROUP, Linux 6.9).
const pidfdProcessGroup = 1 << 2

// A Handle holds on to one process, whose pid may be reused without harm. Its
// waits are served by the runtime's poller: they cost a goroutine, no thread.
// All methods but Wait are safe for concurrent use.
type Handle struct {
	id   Identity
	file *os.File
	conn syscall.RawConn
}

// Open opens the process that id names. A process that is not owned is a
// [*VerdictError].
func Open(id Identity) (*Handle, error) {
	if v := Verify(id); v != Owned {
		return nil, &VerdictError{id, v}
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	if err == unix.ESRCH {
		return nil, &VerdictError{id, Gone}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", id, err)
	}
	h, err := newHandle(id, fd)
	if err != nil {
		return nil, err
	}
	// Only now is the descriptor known to be of the process that was meant.
	if v := Verify(id); v != Owned {
		h.Close()
		return nil, &VerdictError{id, v}
	}
	return h, nil
}

// newHandle takes over fd, a pidfd of the process that id names.
func newHandle(id Identity, fd int) (*Handle, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Handle{id, file, conn}, nil
}

// Identity returns whom the handle holds.
func (h *Handle) Identity() Identity { return h.id }

// Close lets the process go. A Wait in progress ends with an error.
func (h *Handle) Close() error { return h.file.Close() }

// Wait returns once every thread of the process has exited, whoever reaps it,
// or with the error of ctx. One goroutine may wait on a handle at a time.
func (h *Handle) Wait(ctx context.Context) error {
	if ctx.Done() != nil {
		defer h.interruptBy(ctx)()
	}
	err := h.conn.Read(func(fd uintptr) bool { return exited(int(fd)) })
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	return err
}

// interruptBy makes a wait end when ctx does. The function that it returns takes
// that back.
func (h *Handle) interruptBy(ctx context.Context) (undo func()) {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		h.file.SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	return func() {
		if stop() {
			return
		}
		<-interrupted
		h.file.SetReadDeadline(time.Time{})
	}
}

// exited reports whether the process of a pidfd has exited.
func exited(pidfd int) bool {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if err != unix.EINTR {
			return n > 0
		}
	}
}

// Signal sends sig to the process. A process that has exited is no error.
func (h *Handle) Signal(sig syscall.Signal) error {
	_, err := h.signal(sig, 0)
	return err
}

// signalGroup sends sig to the group that the process leads or led, at one
// instant, so that no member can fork out of its way.
func (h *Handle) signalGroup(sig syscall.Signal) error {
	_, err := h.signal(sig, pidfdProcessGroup)
	return err
}

func (h *Handle) signal(sig syscall.Signal, flags int) (sent bool, err error) {
	cerr := h.conn.Control(func(fd uintptr) {
		err = unix.PidfdSendSignal(int(fd), sig, nil, flags)
	})
	if err = errors.Join(cerr, err); err == nil {
		return true, nil
	}
	if errors.Is(err, unix.ESRCH) {
		return false, nil
	}
	return false, fmt.Errorf("cannot signal %s: %w", h.id, err)
}
