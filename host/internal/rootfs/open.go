package rootfs

import (
	"errors"
	"io/fs"
	"os"

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
	if e := f.openable(name, flag); e != 0 {
		return nil, e
	}
	h, err := f.root.OpenFile(name, osFlags(flag), filePerm)
	if err != nil {
		return nil, errno(err)
	}
	// What was looked at before may have been replaced since.
	info, err := h.Stat()
	if err == nil && !plain(info.Mode()) {
		err = sys.EACCES
	}
	if err == nil && flag&sys.O_DIRECTORY != 0 && !info.IsDir() {
		err = sys.ENOTDIR
	}
	if err != nil {
		_ = h.Close()
		return nil, errno(err)
	}
	return &file{fs: f, h: h, path: name, dir: info.IsDir(), flag: flag}, 0
}

// openable looks at a file before it is opened: opening a device may do
// something already, and O_NOFOLLOW is not heeded by os.Root.
func (f *FS) openable(name string, flag sys.Oflag) sys.Errno {
	stat := f.root.Stat
	if flag&sys.O_NOFOLLOW != 0 {
		stat = f.root.Lstat
	}
	info, err := stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0 // it may be made
	case err != nil:
		return errno(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return sys.ELOOP
	case !plain(info.Mode()):
		return sys.EACCES
	case info.IsDir() && flag&(sys.O_RDWR|sys.O_WRONLY|sys.O_TRUNC) != 0:
		return sys.EISDIR
	}
	return 0
}

// plain tells whether a file is regular or a directory.
func plain(m fs.FileMode) bool { return m.IsRegular() || m.IsDir() }

// osFlags are the flags as the os package has them. Opening never waits for the
// other end of a pipe.
func osFlags(flag sys.Oflag) int {
	out := nonblock
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
