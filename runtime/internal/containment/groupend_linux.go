package containment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Members lists the group's living processes and zombies.
func (g *Group) Members() ([]int, error) {
	dirs := g.dirs()
	if len(dirs) == 0 {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(dirs[0], "cgroup.procs"))
	if err != nil {
		return nil, fmt.Errorf("cannot list a control group: %w", err)
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, fmt.Errorf("cannot list a control group: %w", err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// CanKill tells whether Kill and Await work.
func (g *Group) CanKill() bool { return g != nil && (g.unified != "" || g.pids != "") }

// Kill ends every process of the group with SIGKILL, those that are being forked
// included.
func (g *Group) Kill() error {
	if !g.CanKill() {
		return errors.New("cannot kill a control group: the command has none")
	}
	var err error
	if g.unified != "" {
		err = control(g.unified, "cgroup.kill", "1")
	} else {
		err = g.killEach()
	}
	if err != nil {
		return fmt.Errorf("cannot kill a control group: %w", err)
	}
	return nil
}

// killEach kills a version 1 group: no task of it can fork any more, so that one
// pass over its members reaches them all.
func (g *Group) killEach() error {
	if err := control(g.pids, "pids.max", "0"); err != nil {
		return err
	}
	fds, err := g.open()
	defer closeFDs(fds)
	for _, fd := range fds {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
	return err
}

// open gives descriptors of the group's members. A number may have passed to
// another process between the list and the descriptor, so it must still be on a
// list that is read afterwards.
func (g *Group) open() ([]int, error) {
	before, err := g.Members()
	if err != nil {
		return nil, err
	}
	var fds, pids []int
	for _, pid := range before {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			fds, pids = append(fds, fd), append(pids, pid)
		}
	}
	after, err := g.Members()
	if err != nil {
		return fds, err
	}
	var sure []int
	for i, pid := range pids {
		if slices.Contains(after, pid) {
			sure = append(sure, fds[i])
		} else {
			_ = unix.Close(fds[i])
		}
	}
	return sure, nil
}

// Await waits until the group has no living process. It waits for the kernel's
// events.
func (g *Group) Await(ctx context.Context) error {
	if !g.CanKill() {
		return errors.New("cannot watch a control group: the command has none")
	}
	err := g.awaitUnified
	if g.unified == "" {
		err = g.awaitEach
	}
	if err := err(ctx); err != nil {
		return fmt.Errorf("cannot watch a control group: %w", err)
	}
	return nil
}

func (g *Group) awaitUnified(ctx context.Context) error {
	watch, err := watchFile(filepath.Join(g.unified, "cgroup.events"))
	if err != nil {
		return err
	}
	defer watch.Close()
	stop := context.AfterFunc(ctx, func() { _ = watch.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for buf := make([]byte, 4096); ; {
		if n, err := counter(g.unified, "cgroup.events", "populated"); err != nil || n == 0 {
			return err
		}
		if _, err := watch.Read(buf); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// awaitEach waits for the members of a version 1 group, one after another, until
// none is alive.
func (g *Group) awaitEach(ctx context.Context) error {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	defer unix.Close(wake)
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		_, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	defer func() {
		if !stop() {
			<-fired
		}
	}()
	for {
		fds, err := g.open()
		alive := living(fds)
		if err == nil && len(alive) > 0 {
			err = pollAny(append(alive, wake))
		}
		closeFDs(fds)
		if err = errors.Join(ctx.Err(), err); err != nil || len(alive) == 0 {
			return err
		}
	}
}

// living are the descriptors of processes that have not ended; a zombie has.
func living(fds []int) []int {
	var alive []int
	for _, fd := range fds {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(poll, 0); err == nil && n == 0 {
			alive = append(alive, fd)
		}
	}
	return alive
}

// pollAny waits until one of the descriptors can be read.
func pollAny(fds []int) error {
	poll := make([]unix.PollFd, len(fds))
	for i, fd := range fds {
		poll[i] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	}
	for {
		if _, err := unix.Poll(poll, -1); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func closeFDs(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// watchFile gives a descriptor that can be read when path changes.
func watchFile(path string) (*os.File, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "inotify"), nil
}

// discard removes the group and tells whether it is gone. One that still has
// processes, as those that were left running, or the ending thread of a start
// that failed, cannot be removed yet.
func (g *Group) discard() bool {
	gone := true
	for _, d := range g.dirs() {
		if err := unix.Rmdir(d); err != nil && !errors.Is(err, unix.ENOENT) {
			gone = false
		}
	}
	return gone
}

// stale is how old a group must be before another session removes it: a new one
// is empty for a moment, until its command is born.
const stale = time.Minute

// sweep removes groups of ours that their sessions left: processes were still
// running in them. The kernel refuses it where there are some still.
func sweep(groups Groups) {
	for _, parent := range []string{groups.Unified, groups.Pids, groups.Memory} {
		if parent == "" {
			continue
		}
		left, _ := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
		for _, d := range left {
			if info, err := os.Lstat(d); err == nil && time.Since(info.ModTime()) > stale {
				_ = unix.Rmdir(d)
			}
		}
	}
}

// leftGroups are groups that could not be removed when their command had ended.
type leftGroups struct {
	mu   sync.Mutex
	list []*Group
}

// discard removes g, and those that were left before, and counts what is left
// still. A command may end while the sandbox is closed.
func (l *leftGroups) discard(g *Group) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(append(l.list, g), (*Group).discard)
	return len(l.list)
}

// close removes what can be removed. A zombie that its reaper is about to
// collect holds its group for a moment that nothing announces; a daemon that was
// left running holds it for good, and then a later session removes it.
func (l *leftGroups) close() {
	for range 20 {
		if l.discard(nil) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
