package containment

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// sealedInit is the whole life of a sealed command's init: it builds the root,
// starts the command, passes signals on, reaps, and ends when the command has
// ended. The kernel then ends whatever is left in the namespace.
func sealedInit() int {
	report := os.NewFile(sealReportFD, "report")
	out := json.NewEncoder(report)
	signals := catch()
	orders := os.NewFile(sealOrderFD, "order")
	var order sealOrder
	err := json.NewDecoder(orders).Decode(&order)
	if err == nil {
		err = moveIn(order)
	}
	var leader int
	var verified *Verified
	if err == nil && order.Path != "" {
		leader, verified, err = startInside(order)
	}
	if err != nil {
		_ = out.Encode(sealReport{Error: err.Error()})
		return 1
	}
	if err := out.Encode(sealReport{Verified: verified}); err != nil {
		return 1
	}
	// A pipe of the command's must have its end when the command has.
	if err := leaveStreams(); err != nil {
		return 1
	}
	if order.Path == "" {
		return keep(orders)
	}
	status := attend(leader, signals)
	_ = out.Encode(sealReport{Ended: true, Status: status})
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// moveIn makes the namespaces that the process was started in what the order
// asks for.
func moveIn(order sealOrder) error {
	if err := closeOnExec(); err != nil {
		return err
	}
	if order.Profile.Network == NetworkNone {
		if err := loopbackUp(); err != nil {
			return err
		}
	}
	return enterRoot(order.Profile, temporary(order.Env))
}

// startInside starts the command of an order.
func startInside(order sealOrder) (pid int, verified *Verified, err error) {
	p := order.Profile
	c := &Command{}
	r := restriction{}
	if err := r.prepare(p.seenInside()); err != nil {
		return 0, nil, err
	}
	f := fork{path: order.Path, argv: order.Args, attr: syscall.ProcAttr{
		Dir: order.Dir, Env: order.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setsid: true},
	}}
	err = launch(&f, p.Hold, r.enter, func(pid int) error { return c.settle(pid, p) })
	if err != nil {
		return 0, nil, err
	}
	return f.pid, c.verified, nil
}

// keep holds the namespaces for a session: it reaps, and ends when the session
// has let go of the pipe and no process is left.
func keep(lifeline *os.File) int {
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	go func() {
		for range died {
			reapAll()
		}
	}()
	_, _ = io.Copy(io.Discard, lifeline)
	for {
		others := processes(func(pid, _ int) bool { return pid != os.Getpid() })
		if len(others) == 0 {
			return 0
		}
		awaitAny(others)
		reapAll()
	}
}

// reapAll collects the children that have died.
func reapAll() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if pid <= 0 && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// seenInside is the profile with the paths of the composed root.
func (p Profile) seenInside() Profile {
	p.Ward = false
	p.Grants = slices.Clone(p.Grants)
	for i, g := range p.Grants {
		if g.Path == p.Workdir {
			p.Grants[i].Path = SealedWorkdir
		}
	}
	// All that the root holds may be known; it holds nothing that is not granted.
	p.Grants = append(p.Grants, Grant{Path: sharedMemory, Write: true}, Grant{Path: "/", List: true})
	return p
}

// temporary is the directory that /tmp stands for.
func temporary(env []string) string {
	for _, v := range env {
		if dir, ok := strings.CutPrefix(v, "TMPDIR="); ok && within(SealedWorkdir, filepath.Clean(dir)) {
			return filepath.Clean(dir)
		}
	}
	return SealedWorkdir
}

// leaveStreams puts /dev/null in place of the command's streams.
func leaveStreams() error {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for fd := range 3 {
		if err := unix.Dup3(null, fd, unix.O_CLOEXEC); err != nil {
			return err
		}
	}
	return unix.Close(null)
}

// catch collects the signals that are to be passed on. It comes before the
// command is known to run: one that finds nobody waiting for it ends a program in
// Go, and an init takes its command along.
func catch() <-chan os.Signal {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2)
	return signals
}

// attend waits until the command has ended: its leader, and every process of the
// leader's session. It reaps all that die and passes signals on to all.
func attend(leader int, signals <-chan os.Signal) syscall.WaitStatus {
	go func() {
		for s := range signals {
			// -1 stands for every process of the namespace but this one.
			_ = unix.Kill(-1, s.(syscall.Signal))
		}
	}()
	ended := make(chan syscall.WaitStatus, 1)
	go reap(leader, ended)
	status := <-ended
	for {
		members := sessionMembers(leader)
		if len(members) == 0 {
			return status
		}
		awaitAny(members)
	}
}

// reap collects every child that dies and tells when the leader has.
func reap(leader int, ended chan<- syscall.WaitStatus) {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return // there is no child left, hence no leader either
		case pid == leader:
			ended <- ws
		}
	}
}

// sessionMembers lists the living processes of a kernel session.
func sessionMembers(session int) []int {
	return processes(func(_, sid int) bool { return sid == session })
}

// processes lists the living processes of /proc that are wanted.
func processes(want func(pid, session int) bool) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var list []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		state, sid, ok := parseStat(string(text))
		if ok && state != "Z" && state != "X" && want(pid, sid) {
			list = append(list, pid)
		}
	}
	return list
}

// parseStat reads the state and the session of a process. The name before them
// is the process's to choose, parentheses included.
func parseStat(text string) (state string, session int, ok bool) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 4 {
		return "", 0, false
	}
	session, err := strconv.Atoi(fields[3])
	return fields[0], session, err == nil
}

// awaitAny waits until one of the processes has died.
func awaitAny(pids []int) {
	var fds []int
	defer func() { closeFDs(fds) }()
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return // it has died already
		}
		fds = append(fds, fd)
	}
	_ = pollAny(fds)
}
