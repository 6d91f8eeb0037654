package containment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
