package supervisor

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

// startPatience is how long a new supervisor may take until it answers.
const startPatience = 10 * time.Second

// childFD is the descriptor of the first connection in a new supervisor.
const childFD = 3

// spawn starts a supervisor for dir and returns the connection to it. The
// socket pair is there before the process: nothing has to be waited for or
// looked up, and a supervisor whose runtime dies at once knows it at once.
func spawn(dir string, log func(format string, args ...any)) (net.Conn, error) {
	if !hooked.Load() || os.Getenv(markEnv) != "" {
		return nil, fmt.Errorf("cannot start a supervisor: %w", ErrNoHook)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot start a supervisor: %w", os.NewSyscallError("socketpair", err))
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "supervisor"), os.NewFile(uintptr(pair[1]), "runtime")
	defer ours.Close()
	defer theirs.Close()
	pid, err := launch(dir, theirs)
	if err != nil {
		return nil, fmt.Errorf("cannot start a supervisor: %w", err)
	}
	// Before it has anything to do: what it starts stays where it is then.
	if err := Escaping().move(pid, dir); err != nil {
		log("%v", err)
	}
	return net.FileConn(ours)
}

func launch(dir string, conn *os.File) (int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	log, err := regular.OpenFile(filepath.Join(dir, logName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	// /proc/self/exe is the program that runs, also when the file it came from
	// was replaced or deleted meanwhile.
	pid, err := syscall.ForkExec("/proc/self/exe", []string{processName, dir}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   childEnv(),
		Files: []uintptr{null.Fd(), null.Fd(), log.Fd(), conn.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("cannot run this program again: %w", err)
	}
	children.add(pid)
	return pid, nil
}

// childEnv is a supervisor's whole environment. The Go runtime reads its part
// before the first line of this program runs: the collector is to be sparing,
// and what little there is to compute is done sooner by one thread than by
// several that wake each other.
func childEnv() []string {
	return []string{markEnv + "=1", "GOGC=50", "GOMAXPROCS=1"}
}

// children are the supervisors that this process started. One outlives its
// connection as long as commands run, so there is nothing to wait for: each is
// reaped when there is reason to look, and never by a wait for any child.
var children reapList

type reapList struct {
	mu   sync.Mutex
	pids []int
}

func (l *reapList) add(pid int) {
	l.mu.Lock()
	l.pids = append(l.pids, pid)
	l.mu.Unlock()
	l.reap()
}

// reap collects those that have ended.
func (l *reapList) reap() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var living []int
	for _, pid := range l.pids {
		got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if got == 0 && err == nil || errors.Is(err, unix.EINTR) {
			living = append(living, pid)
		}
	}
	l.pids = living
}
