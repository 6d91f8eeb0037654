package containment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
		g.discard()
		return nil, fmt.Errorf("cannot make the command's control group: %w", err)
	}
	return g, nil
}

func makeGroup(parent, name string, dir *string) error {
	if parent == "" {
		return nil
	}
	path := filepath.Join(parent, groupPrefix+name)
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
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
// created.
func control(dir, file, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
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

// add moves a process into the group.
func (g *Group) add(pid int) error {
	for _, d := range g.dirs() {
		if err := control(d, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("cannot move process %d into its control group: %w", pid, err)
		}
	}
	return nil
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

// CanKill tells whether Kill and Await work: the group is of the version 2
// hierarchy.
func (g *Group) CanKill() bool { return g != nil && g.unified != "" }

// Kill ends every process of the group with SIGKILL, those that are being forked
// included.
func (g *Group) Kill() error {
	if !g.CanKill() {
		return errors.New("cannot kill a control group: the command has none of version 2")
	}
	if err := control(g.unified, "cgroup.kill", "1"); err != nil {
		return fmt.Errorf("cannot kill a control group: %w", err)
	}
	return nil
}

// Await waits until the group has no living process. It waits for the kernel's
// event.
func (g *Group) Await(ctx context.Context) error {
	if !g.CanKill() {
		return errors.New("cannot watch a control group: the command has none of version 2")
	}
	watch, err := watchFile(filepath.Join(g.unified, "cgroup.events"))
	if err != nil {
		return fmt.Errorf("cannot watch a control group: %w", err)
	}
	defer watch.Close()
	stop := context.AfterFunc(ctx, func() { _ = watch.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for buf := make([]byte, 4096); ; {
		if n, err := counter(g.unified, "cgroup.events", "populated"); err != nil || n == 0 {
			return err
		}
		if _, err := watch.Read(buf); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("cannot watch a control group: %w", err)
		}
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
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && k == key {
			return strconv.ParseUint(v, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, key)
}

// discard removes the group. A group that still has processes, as those that
// were left running, cannot be removed and stays.
func (g *Group) discard() {
	for _, d := range g.dirs() {
		_ = os.Remove(d)
	}
}
