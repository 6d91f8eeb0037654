package rootfs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// OpenFile opens a regular file or a directory. The mode of a new file is that
// of the host's umask.
func (f *FS) OpenFile(p string, flag sys.Oflag, _ fs.FileMode) (sys.File, sys.Errno) {
	name, e := local(p)
	switch {
	case e != 0:
		return nil, e
	case f.readOnly && flag&writing != 0:
		return nil, sys.EROFS
	case f.open.Add(1) > MaxOpen:
		f.open.Add(-1)
		return nil, sys.EAGAIN
	}
	file, e := f.openAt(name, flag)
	if e != 0 {
		f.open.Add(-1)
		return nil, e
	}
	return file, 0
}

const writing = sys.O_RDWR | sys.O_WRONLY | sys.O_CREAT | sys.O_TRUNC | sys.O_APPEND

func (f *FS) openAt(name string, flag sys.Oflag) (*file, sys.Errno) {
	h, info, err := Open(f.root, name, osFlags(flag), flag&sys.O_NOFOLLOW == 0)
	if err == nil && flag&sys.O_DIRECTORY != 0 && !info.IsDir() {
		_ = h.Close()
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, errno(err)
	}
	return &file{fs: f, h: h, path: name, dir: info.IsDir(), flag: flag}, 0
}

// Open opens a regular file or a directory below root, with flags of package os:
// never anything else, and without waiting for the other end of a pipe. Unless
// follow is set, a symbolic link is ELOOP. New files have the mode of the host's
// umask.
func Open(root *os.Root, name string, flag int, follow bool) (*os.File, fs.FileInfo, error) {
	if err := openable(root, name, flag, follow); err != nil {
		return nil, nil, err
	}
	h, err := root.OpenFile(name, flag|nonblock, filePerm)
	if err != nil {
		return nil, nil, err
	}
	// What was looked at before may have been replaced since.
	info, err := h.Stat()
	if err == nil && !plain(info.Mode()) {
		err = syscall.EACCES
	}
	if err != nil {
		_ = h.Close()
		return nil, nil, err
	}
	return h, info, nil
}

// openable looks at a file before it is opened: opening a device may do
// something already, and O_NOFOLLOW is not heeded by os.Root.
func openable(root *os.Root, name string, flag int, follow bool) error {
	stat := root.Stat
	if !follow {
		stat = root.Lstat
	}
	info, err := stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it may be made
	case err != nil:
		return err
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return syscall.EEXIST
	case info.Mode()&fs.ModeSymlink != 0:
		return syscall.ELOOP
	case !plain(info.Mode()):
		return syscall.EACCES
	case info.IsDir() && flag&(os.O_RDWR|os.O_WRONLY|os.O_TRUNC) != 0:
		return syscall.EISDIR
	}
	return nil
}

// plain tells whether a file is regular or a directory.
func plain(m fs.FileMode) bool { return m.IsRegular() || m.IsDir() }

// osFlags are the flags as the os package has them.
func osFlags(flag sys.Oflag) int {
	out := 0
	switch {
	case flag&sys.O_RDWR != 0:
		out |= os.O_RDWR
	case flag&sys.O_WRONLY != 0:
		out |= os.O_WRONLY
	}
	for _, f := range []struct {
		from sys.Oflag
		to   int
	}{
		{sys.O_APPEND, os.O_APPEND}, {sys.O_CREAT, os.O_CREATE}, {sys.O_EXCL, os.O_EXCL}, {sys.O_TRUNC, os.O_TRUNC},
		{sys.O_SYNC, os.O_SYNC}, {sys.O_DSYNC, os.O_SYNC}, {sys.O_RSYNC, os.O_SYNC},
	} {
		if flag&f.from != 0 {
			out |= f.to
		}
	}
	return out
}
