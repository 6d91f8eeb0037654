package rootfs

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// MaxOpen is how many files a guest may have open in one file system. The host
// pays for each with a descriptor of its own.
const MaxOpen = 256

const (
	filePerm = 0o666 // the host's umask applies
	dirPerm  = 0o777
)

// An FS is a directory as a file system. It is safe for concurrent use.
type FS struct {
	sys.UnimplementedFS
	root     *os.Root
	readOnly bool
	open     atomic.Int32
}

// New makes a file system of root, which remains the caller's. A read-only one
// refuses every change with EROFS.
func New(root *os.Root, readOnly bool) *FS { return &FS{root: root, readOnly: readOnly} }

// local makes a guest's path one for the root. An empty path, "/" and "." are
// the root itself.
func local(p string) (string, sys.Errno) {
	if strings.IndexByte(p, 0) >= 0 {
		return "", sys.EINVAL
	}
	p = strings.Trim(p, "/")
	if p == "" {
		return ".", 0
	}
	return p, 0
}

// errno is err in the terms of WASI. What os.Root itself refuses has no number
// of the system's: it is a path out of the root.
func errno(err error) sys.Errno {
	e := sys.UnwrapOSError(err)
	if e == sys.EIO && Escapes(err) {
		return sys.EPERM
	}
	return e
}

// Escapes tells whether an error of an [os.Root] is that a path leads out of it.
func Escapes(err error) bool {
	return strings.Contains(err.Error(), "path escapes from parent")
}

// Stat is the file at p; a link is followed, within the root.
func (f *FS) Stat(p string) (wsys.Stat_t, sys.Errno) { return f.stat(p, f.root.Stat) }

// Lstat is the file at p; a link is not followed.
func (f *FS) Lstat(p string) (wsys.Stat_t, sys.Errno) { return f.stat(p, f.root.Lstat) }

func (f *FS) stat(p string, stat func(string) (fs.FileInfo, error)) (wsys.Stat_t, sys.Errno) {
	name, e := local(p)
	if e != 0 {
		return wsys.Stat_t{}, e
	}
	info, err := stat(name)
	if err != nil {
		return wsys.Stat_t{}, errno(err)
	}
	return wsys.NewStat_t(info), 0
}

// change runs an operation that changes the file system.
func (f *FS) change(p string, do func(name string) error) sys.Errno {
	name, e := local(p)
	switch {
	case e != 0:
		return e
	case f.readOnly:
		return sys.EROFS
	}
	return errno(do(name))
}

// Mkdir makes a directory. The mode is that of the host's umask.
func (f *FS) Mkdir(p string, _ fs.FileMode) sys.Errno {
	return f.change(p, func(name string) error { return f.root.Mkdir(name, dirPerm) })
}

// Rmdir removes an empty directory.
func (f *FS) Rmdir(p string) sys.Errno {
	return f.remove(p, func(m fs.FileMode) sys.Errno {
		if m.IsDir() {
			return 0
		}
		return sys.ENOTDIR
	})
}

// Unlink removes anything but a directory.
func (f *FS) Unlink(p string) sys.Errno {
	return f.remove(p, func(m fs.FileMode) sys.Errno {
		if m.IsDir() {
			return sys.EISDIR
		}
		return 0
	})
}

func (f *FS) remove(p string, fits func(fs.FileMode) sys.Errno) sys.Errno {
	return f.change(p, func(name string) error {
		if name == "." {
			return sys.EPERM
		}
		info, err := f.root.Lstat(name)
		if err != nil {
			return err
		}
		if e := fits(info.Mode()); e != 0 {
			return e
		}
		return f.root.Remove(name)
	})
}

// Rename renames within the root.
func (f *FS) Rename(from, to string) sys.Errno {
	target, e := local(to)
	if e != 0 {
		return e
	}
	return f.change(from, func(name string) error { return f.root.Rename(name, target) })
}

// Link makes a hard link within the root.
func (f *FS) Link(from, to string) sys.Errno {
	target, e := local(to)
	if e != 0 {
		return e
	}
	return f.change(from, func(name string) error { return f.root.Link(name, target) })
}

// Symlink makes a symbolic link. One that would lead out of the root is refused:
// this package would not follow it, but a program that finds it there might.
func (f *FS) Symlink(target, link string) sys.Errno {
	return f.change(link, func(name string) error {
		if target == "" || strings.IndexByte(target, 0) >= 0 {
			return sys.EINVAL
		}
		if path.IsAbs(target) || !inside(path.Join(path.Dir(name), target)) {
			return sys.EPERM
		}
		return f.root.Symlink(target, name)
	})
}

func inside(cleaned string) bool { return cleaned != ".." && !strings.HasPrefix(cleaned, "../") }

// Readlink is what a symbolic link holds.
func (f *FS) Readlink(p string) (string, sys.Errno) {
	name, e := local(p)
	if e != 0 {
		return "", e
	}
	target, err := f.root.Readlink(name)
	return target, errno(err)
}

// Utimens sets the times of the file at p; a link is followed, within the root.
func (f *FS) Utimens(p string, atim, mtim int64) sys.Errno {
	return f.change(p, func(name string) error { return f.root.Chtimes(name, timeOf(atim), timeOf(mtim)) })
}

// timeOf is the time of a timestamp; the zero time leaves a file's as it is.
func timeOf(ns int64) time.Time {
	if ns == sys.UTIME_OMIT {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
