package rootfs

import (
	"errors"
	"io"
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"
	wsys "github.com/tetratelabs/wazero/sys"
)

// A file is an open file or directory.
type file struct {
	fs   *FS
	h    *os.File
	path string
	dir  bool
	flag sys.Oflag
	shut bool
}

var _ sys.File = (*file)(nil)

func (f *file) Dev() (uint64, sys.Errno) {
	st, e := f.Stat()
	return st.Dev, e
}

func (f *file) Ino() (wsys.Inode, sys.Errno) {
	st, e := f.Stat()
	return st.Ino, e
}

func (f *file) IsDir() (bool, sys.Errno) { return f.dir, 0 }

func (f *file) IsAppend() bool { return f.flag&sys.O_APPEND != 0 }

// SetAppend opens the file anew: the mode is fixed when a file is opened.
func (f *file) SetAppend(enable bool) sys.Errno {
	if f.dir {
		return sys.EISDIR
	}
	if f.IsAppend() == enable {
		return 0
	}
	flag := f.flag &^ (sys.O_CREAT | sys.O_EXCL | sys.O_TRUNC | sys.O_APPEND)
	if enable {
		flag |= sys.O_APPEND
	}
	return f.reopen(flag)
}

func (f *file) reopen(flag sys.Oflag) sys.Errno {
	again, e := f.fs.openAt(f.path, flag)
	if e != 0 {
		return e
	}
	if e := f.adopt(again.h); e != 0 {
		_ = again.h.Close()
		return e
	}
	f.flag = flag
	return 0
}

// adopt goes on with another handle of the same file.
func (f *file) adopt(h *os.File) sys.Errno {
	was, err := f.h.Stat()
	if err != nil {
		return errno(err)
	}
	is, err := h.Stat()
	if err != nil {
		return errno(err)
	}
	if !os.SameFile(was, is) {
		return sys.ENOENT // it was moved or replaced
	}
	pos, err := f.h.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = h.Seek(pos, io.SeekStart)
	}
	if err != nil {
		return errno(err)
	}
	_ = f.h.Close()
	f.h = h
	return 0
}

func (f *file) Stat() (wsys.Stat_t, sys.Errno) {
	info, err := f.h.Stat()
	if err != nil {
		return wsys.Stat_t{}, errno(err)
	}
	return wsys.NewStat_t(info), 0
}

func (f *file) Read(p []byte) (int, sys.Errno) {
	if e := f.regular(); e != 0 {
		return 0, e
	}
	n, err := f.h.Read(p)
	return n, ioErrno(err)
}

func (f *file) Pread(p []byte, off int64) (int, sys.Errno) {
	switch e := f.regular(); {
	case e != 0:
		return 0, e
	case off < 0:
		return 0, sys.EINVAL
	}
	n, err := f.h.ReadAt(p, off)
	return n, ioErrno(err)
}

func (f *file) Write(p []byte) (int, sys.Errno) {
	if e := f.regular(); e != 0 {
		return 0, e
	}
	n, err := f.h.Write(p)
	return n, ioErrno(err)
}

func (f *file) Pwrite(p []byte, off int64) (int, sys.Errno) {
	switch e := f.regular(); {
	case e != 0:
		return 0, e
	case off < 0:
		return 0, sys.EINVAL
	case f.IsAppend():
		return 0, sys.ENOTSUP // systems do not agree on what it means
	}
	n, err := f.h.WriteAt(p, off)
	return n, ioErrno(err)
}

func (f *file) regular() sys.Errno {
	if f.dir {
		return sys.EISDIR
	}
	return 0
}

// ioErrno is the outcome of reading and writing, where the end of a file is no
// error, and a handle without the right mode is a bad one.
func ioErrno(err error) sys.Errno {
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return 0
	case errors.Is(err, os.ErrClosed):
		return sys.EBADF
	}
	return errno(err)
}

// position is an int64. By its own name vet does not take the method below, which
// has the signature that wazero wants, for a failed io.Seeker.
type position = int64

func (f *file) Seek(offset position, whence int) (int64, sys.Errno) {
	if f.dir && (offset != 0 || whence != io.SeekStart) {
		return 0, sys.EISDIR
	}
	if whence < io.SeekStart || whence > io.SeekEnd {
		return 0, sys.EINVAL
	}
	pos, err := f.h.Seek(offset, whence)
	return pos, ioErrno(err)
}

func (f *file) Truncate(size int64) sys.Errno {
	switch {
	case f.dir:
		return sys.EISDIR
	case size < 0:
		return sys.EINVAL
	}
	return ioErrno(f.h.Truncate(size))
}

func (f *file) Sync() sys.Errno { return ioErrno(f.h.Sync()) }

func (f *file) Datasync() sys.Errno { return f.Sync() }

func (f *file) Utimens(atim, mtim int64) sys.Errno { return f.fs.Utimens(f.path, atim, mtim) }

// Close closes the file, once.
func (f *file) Close() sys.Errno {
	if f.shut {
		return 0
	}
	f.shut = true
	f.fs.open.Add(-1)
	return ioErrno(f.h.Close())
}

// Readdir gives the next entries, without "." and "..".
func (f *file) Readdir(n int) ([]sys.Dirent, sys.Errno) {
	if !f.dir {
		return nil, sys.ENOTDIR
	}
	entries, err := f.h.ReadDir(n)
	if len(entries) == 0 && err != nil {
		return nil, ioErrno(err)
	}
	out := make([]sys.Dirent, len(entries))
	for i, e := range entries {
		out[i] = sys.Dirent{Name: e.Name(), Type: e.Type(), Ino: inode(f.h, e.Name())}
	}
	return out, 0
}
