package containment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// sharedMemory is where libraries keep semaphores; a sealed command has its own.
const sharedMemory = "/dev/shm"

// enterRoot gives the calling process a root that has what the profile grants
// and nothing else. It must be the only user of its mount namespace. Afterwards
// the old root is gone: there is no path to it, not even for root.
func enterRoot(p Profile, tmp string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("cannot make mounts private: %w", err)
	}
	// The trees are picked up before the new root hides what is below it.
	trees, err := pickUp(p)
	defer trees.close()
	if err != nil {
		return err
	}
	base, err := mountBase()
	if err != nil {
		return err
	}
	if err := trees.place(base); err != nil {
		return err
	}
	if err := furnish(base, tmp); err != nil {
		return err
	}
	return pivot(base)
}

// A tree is a part of the host's filesystem that goes into the new root.
type tree struct {
	// to is its path in the new root.
	to string
	// link is the target, if it is a symbolic link; fd is -1 then.
	link string
	fd   int
	dir  bool
}

type trees []tree

func (list trees) close() {
	for _, t := range list {
		if t.fd >= 0 {
			_ = unix.Close(t.fd)
		}
	}
}

// pickUp clones the mounts of everything that is granted. Parents come before
// what lies in them.
func pickUp(p Profile) (trees, error) {
	grants := slices.SortedFunc(slices.Values(p.Grants), func(a, b Grant) int { return cmp.Compare(a.Path, b.Path) })
	var list trees
	for _, g := range grants {
		if g.Path == "/proc" {
			continue // it is mounted anew, for the namespace
		}
		t, err := pick(g, p)
		if errors.Is(err, os.ErrNotExist) && g.Optional {
			continue
		}
		if err != nil {
			return list, fmt.Errorf("cannot put %s into the root: %w", g.Path, err)
		}
		list = append(list, t)
	}
	return list, nil
}

func pick(g Grant, p Profile) (tree, error) {
	info, err := os.Lstat(g.Path)
	if err != nil {
		return tree{}, err
	}
	t := tree{to: g.Path, fd: -1, dir: info.IsDir()}
	if info.Mode()&os.ModeSymlink != 0 {
		t.link, err = os.Readlink(g.Path)
		return t, err
	}
	if g.Path == p.Workdir {
		t.to = SealedWorkdir
	}
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE)
	if t.fd, err = unix.OpenTree(unix.AT_FDCWD, g.Path, flags); err != nil {
		return tree{}, fmt.Errorf("cannot clone its mount: %w", err)
	}
	attr := unix.MountAttr{Attr_set: mountFlags(g)}
	if err := unix.MountSetattr(t.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		_ = unix.Close(t.fd)
		return tree{}, fmt.Errorf("cannot set its mount flags: %w", err)
	}
	return t, nil
}

func mountFlags(g Grant) uint64 {
	flags := uint64(unix.MOUNT_ATTR_NOSUID)
	if !g.Device {
		flags |= unix.MOUNT_ATTR_NODEV
	}
	if !g.Write {
		flags |= unix.MOUNT_ATTR_RDONLY
	}
	if !g.Exec && g.Write {
		flags |= unix.MOUNT_ATTR_NOEXEC
	}
	return flags
}

// mountBase mounts the new root over a directory that every host has.
func mountBase() (string, error) {
	for _, base := range []string{"/tmp", "/run", "/mnt", "/var"} {
		if !exists(base) {
			continue
		}
		err := unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=4m")
		if err != nil {
			return "", fmt.Errorf("cannot mount the new root: %w", err)
		}
		return base, nil
	}
	return "", errors.New("cannot mount the new root: the host has no directory to mount it on")
}

// place moves the trees to their places below base.
func (list trees) place(base string) error {
	for _, t := range list {
		if err := t.place(base + t.to); err != nil {
			return fmt.Errorf("cannot put %s into the root: %w", t.to, err)
		}
	}
	return nil
}

func (t tree) place(at string) error {
	// What lies in a tree that is placed already is there.
	if !exists(at) {
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		switch {
		case t.link != "":
			return os.Symlink(t.link, at)
		case t.dir:
			if err := os.Mkdir(at, 0o755); err != nil {
				return err
			}
		default:
			f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o444)
			if err != nil {
				return err
			}
			_ = f.Close()
		}
	}
	if t.fd < 0 {
		return nil
	}
	return unix.MoveMount(t.fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// furnish adds what is not the host's: /proc of the namespace, shared memory, and
// the usual links.
func furnish(base, tmp string) error {
	const quiet = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	for _, m := range []struct{ kind, at, options string }{
		// Only the processes of the namespace, and of those only its own user's;
		// none of the kernel's switches.
		{"proc", "/proc", "hidepid=invisible,subset=pid"},
		{"tmpfs", sharedMemory, "mode=1777,size=64m"},
	} {
		if err := os.MkdirAll(base+m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, base+m.at, m.kind, quiet, m.options); err != nil {
			return fmt.Errorf("cannot mount %s: %w", m.at, err)
		}
	}
	for from, to := range map[string]string{
		"/tmp": tmp, "/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0",
		"/dev/stdout": "/proc/self/fd/1", "/dev/stderr": "/proc/self/fd/2",
	} {
		// A grant below one of them has made it a directory.
		if err := os.Symlink(to, base+from); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("cannot furnish the root: %w", err)
		}
	}
	return nil
}

// pivot makes base the root, lets go of the old one and locks the new one.
func pivot(base string) error {
	if err := os.Chdir(base); err != nil {
		return fmt.Errorf("cannot enter the new root: %w", err)
	}
	// The old root is stacked on the new one, where it can be unmounted.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("cannot change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("cannot let go of the old root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("cannot enter the new root: %w", err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, &attr); err != nil {
		return fmt.Errorf("cannot make the root read-only: %w", err)
	}
	return nil
}
