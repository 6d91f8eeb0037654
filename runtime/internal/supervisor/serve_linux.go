package supervisor

import (
	"fmt"
	"math"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/unixsock"
	"golang.org/x/sys/unix"
)

// memoryLimit makes the collector work harder rather than let the process grow.
// It is no bound: a thousand commands may need more.
const memoryLimit = 24 << 20

// serve is the whole life of a supervisor. The result is its exit code.
func serve(dir string) int {
	if err := supervise(dir); err != nil {
		logLine("ending: %v", err)
		return 1
	}
	return 0
}

// logLine writes to the supervisor's log, which is its standard error.
func logLine(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s [%d] %s\n", time.Now().UTC().Format(time.RFC3339Nano), os.Getpid(), fmt.Sprintf(format, args...))
}

func supervise(dir string) error {
	if err := isolate(); err != nil {
		return err
	}
	first, err := inherited()
	if err != nil {
		return err
	}
	unignore()
	signals := notify()
	lock, err := takeLock(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	s, err := newServer(dir)
	if err != nil {
		return err
	}
	l, err := unixsock.Listen(dir, socketName)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	// Counted before anything can end, served when it is known what there is.
	p := s.admit(first)
	s.recover()
	go s.serve(p)
	go s.accept(l)
	return s.stay(signals, l)
}

// stay waits for the end of the supervisor's usefulness. Whoever connects from
// here on finds nobody, and starts a supervisor that waits for the lock.
func (s *server) stay(signals <-chan os.Signal, l net.Listener) error {
	for {
		select {
		case sig := <-signals:
			if sig == syscall.SIGTERM {
				s.askToLeave(sig)
			}
		case <-s.leaving:
			_ = l.Close()
			_ = os.Remove(filepath.Join(s.dir, socketName))
			s.contained.close()
			return s.closeBooks()
		}
	}
}

// isolate takes from the process what it has of the runtime. Other processes of
// the user can no longer read its memory or attach to it.
func isolate() error {
	debug.SetMemoryLimit(memoryLimit)
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl(PR_SET_DUMPABLE)", err)
	}
	return closeInherited()
}

// closeInherited closes every descriptor that came through the exec, the first
// connection excepted: they are the ones without close-on-exec, for this
// process itself opens none like that.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd < childFD {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		if fd == childFD {
			unix.CloseOnExec(fd)
			continue
		}
		_ = unix.Close(fd)
	}
	return nil
}

// inherited is the connection to the runtime that started this process.
func inherited() (net.Conn, error) {
	f := os.NewFile(childFD, "runtime")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("no connection to the runtime: %w", err)
	}
	return c, nil
}

// notify takes over every signal that could end the process, or that whoever
// started the runtime may have ignored. Never Ignore: a command would inherit
// that, while a signal that is caught is back at its default after an exec.
func notify() <-chan os.Signal {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE,
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
		syscall.SIGCONT, syscall.SIGXFSZ, syscall.SIGXCPU)
	return signals
}

func newServer(dir string) (*server, error) {
	reaper, err := proctree.NewSubreaper()
	if err != nil {
		return nil, err
	}
	store, err := jobs.Open(filepath.Join(dir, jobsDir))
	if err != nil {
		return nil, err
	}
	j, err := openJournal(dir)
	if err != nil {
		return nil, err
	}
	// How many may run is the runtime's to say; the supervisor has what ran in
	// the session before, too.
	o := shell.Options{MaxRunning: math.MaxInt}
	o.Reaper, o.HoldOutput = reaper, true
	runner, err := shell.NewInProcess(o)
	if err != nil {
		return nil, err
	}
	s := &server{
		dir: dir, store: store, journal: j, log: logLine, runner: runner,
		commands: map[string]*command{}, past: map[string]message{}, peers: map[*peer]bool{}, leaving: make(chan struct{}),
	}
	return s, nil
}

// opening is the line by which a supervisor says who it is.
func (s *server) opening() entry {
	e := entry{Step: stepSupervisor, Build: build(), Service: ownService()}
	if id, err := proctree.Capture(os.Getpid()); err == nil {
		self := jobs.Identity(id)
		e.Self = &self
	}
	return e
}
