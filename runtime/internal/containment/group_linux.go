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
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// groupPrefix begins the name of every control group of ours.
const groupPrefix = "murmur-"

// A Group is the control group of one command: every process that descends from
// it is in there, wherever it went. Its methods accept nil, which has no members.
type Group struct {
	// unified, pids and memory are directories of ours; "" where there is none.
	// One hierarchy may serve several purposes.
	unified, pids, memory string
	unifiedPids           bool
	unifiedMemory         bool
}

// newGroup makes the group of a command, with its ceilings. It is nil where the
// host has no place for one.
func newGroup(p Profile, name string) (*Group, error) {
	if p.Groups == (Groups{}) {
		return nil, nil
	}
	g := &Group{unifiedPids: p.Groups.UnifiedPids, unifiedMemory: p.Groups.UnifiedMemory}
	err := errors.Join(
		makeGroup(p.Groups.Unified, name, &g.unified),
		makeGroup(p.Groups.Pids, name, &g.pids),
		makeGroup(p.Groups.Memory, name, &g.memory),
	)
	if err == nil {
		err = g.setCeilings(p.Limits)
	}
	if err != nil {
		_ = g.discard()
		return nil, fmt.Errorf("cannot make the command's control group: %w", err)
	}
	return g, nil
}

func makeGroup(parent, name string, dir *string) error {
	if parent == "" {
		return nil
	}
	path := filepath.Join(parent, groupPrefix+name)
	err := unix.Mkdir(path, 0o755)
	// A start of that name that failed leaves a group that is busy until its
	// thread has ended, which nothing announces.
	for try := 0; errors.Is(err, unix.EEXIST) && try < 20; try++ {
		time.Sleep(time.Millisecond)
		_ = unix.Rmdir(path)
		err = unix.Mkdir(path, 0o755)
	}
	if err != nil {
		return &os.PathError{Op: "mkdir", Path: path, Err: err}
	}
	*dir = path
	return nil
}

func (g *Group) setCeilings(l Limits) error {
	pids, memory := strconv.FormatInt(l.pidsMax(), 10), strconv.FormatInt(l.CgroupMemoryBytes, 10)
	var errs []error
	if g.unifiedPids {
		errs = append(errs, control(g.unified, "pids.max", pids))
	}
	if g.unifiedMemory {
		errs = append(errs, control(g.unified, "memory.max", memory))
	}
	if g.pids != "" {
		errs = append(errs, control(g.pids, "pids.max", pids))
	}
	if g.memory != "" {
		errs = append(errs, control(g.memory, "memory.limit_in_bytes", memory))
	}
	return errors.Join(errs...)
}

// control writes a control file. It must exist: a file of that name is never
// created. The calls are bare, because the poller that files of package os
// register with costs more than the write.
func control(dir, file, value string) error {
	path := filepath.Join(dir, file)
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	_, err = unix.Write(fd, []byte(value))
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		return &os.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// dirs are the group's directories.
func (g *Group) dirs() []string {
	if g == nil {
		return nil
	}
	var list []string
	for _, d := range []string{g.unified, g.pids, g.memory} {
		if d != "" {
			list = append(list, d)
		}
	}
	return list
}

// join moves the calling thread into the version 1 groups, where threads can be
// alone; what it forks is born there. A thread that moves itself takes no lock
// that all forks of the host wait for, as moving a process does.
func (g *Group) join() error {
	if g == nil {
		return nil
	}
	for _, d := range []string{g.pids, g.memory} {
		if d == "" {
			continue
		}
		if err := control(d, "tasks", "0"); err != nil {
			return fmt.Errorf("cannot join the command's control group: %w", err)
		}
	}
	return nil
}

// add moves a process into the version 2 group.
func (g *Group) add(pid int) error {
	if g == nil || g.unified == "" {
		return nil
	}
	if err := control(g.unified, "cgroup.procs", strconv.Itoa(pid)); err != nil {
		return fmt.Errorf("cannot move process %d into its control group: %w", pid, err)
	}
	return nil
}

// birth makes a child be born in the version 2 group. It takes clone3, which a
// filtered thread does not have.
func (g *Group) birth(attr *syscall.SysProcAttr) (release func(), err error) {
	if g == nil || g.unified == "" {
		return func() {}, nil
	}
	dir, err := os.Open(g.unified)
	if err != nil {
		return nil, fmt.Errorf("cannot open the command's control group: %w", err)
	}
	attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
	return func() { _ = dir.Close() }, nil
}

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

// limit names the ceiling that the group met, if it met one. A group is new with
// each command, so that any count is the command's own.
func (g *Group) limit() string {
	if g == nil {
		return ""
	}
	for _, c := range []struct{ dir, file, key, limit string }{
		{g.memory, "memory.oom_control", "oom_kill", LimitMemory},
		{only(g.unifiedMemory, g.unified), "memory.events", "oom_kill", LimitMemory},
		{g.pids, "pids.events", "max", LimitPids},
		{only(g.unifiedPids, g.unified), "pids.events", "max", LimitPids},
	} {
		if c.dir == "" {
			continue
		}
		if n, err := counter(c.dir, c.file, c.key); err == nil && n > 0 {
			return c.limit
		}
	}
	return ""
}

func only(ok bool, dir string) string {
	if ok {
		return dir
	}
	return ""
}

// counter reads one value of a file of "key value" lines.
func counter(dir, file, key string) (uint64, error) {
	fd, err := unix.Open(filepath.Join(dir, file), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(buf[:n])) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && k == key {
			return strconv.ParseUint(v, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, key)
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

// discard removes g, and those that were left before.
func (l *leftGroups) discard(g *Group) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(append(l.list, g), (*Group).discard)
}

// close removes what can be removed. A zombie that its reaper is about to
// collect holds its group for a moment that nothing announces; a daemon that was
// left running holds it for good, and then a later session removes it.
func (l *leftGroups) close() {
	for range 20 {
		if l.discard(nil); len(l.list) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
