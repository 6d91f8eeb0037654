package rootfs_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/murmur-capsule/murmur/host/internal/rootfs"
)

// newFS makes a file system beside a file that it must not reach.
func newFS(t *testing.T, readOnly bool) (fs *rootfs.FS, dir, outside string) {
	t.Helper()
	top := t.TempDir()
	dir, outside = filepath.Join(top, "work"), filepath.Join(top, "secret")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o644))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return rootfs.New(root, readOnly), dir, outside
}

func write(t *testing.T, fs *rootfs.FS, path, text string) {
	t.Helper()
	f, errno := fs.OpenFile(path, sys.O_CREAT|sys.O_WRONLY|sys.O_TRUNC, 0o600)
	require.Zero(t, errno)
	n, errno := f.Write([]byte(text))
	require.Zero(t, errno)
	assert.Equal(t, len(text), n)
	require.Zero(t, f.Close())
}

func read(t *testing.T, f sys.File) string {
	t.Helper()
	var all []byte
	for buf := make([]byte, 7); ; {
		n, errno := f.Read(buf)
		require.Zero(t, errno)
		if n == 0 {
			return string(all)
		}
		all = append(all, buf[:n]...)
	}
}

func TestFiles(t *testing.T) {
	fs, dir, _ := newFS(t, false)
	write(t, fs, "a.txt", "hello, file")
	onDisk, err := os.ReadFile(filepath.Join(dir, "a.txt"))
	require.NoError(t, err)
	assert.Equal(t, "hello, file", string(onDisk))

	f, errno := fs.OpenFile("/a.txt", sys.O_RDWR, 0)
	require.Zero(t, errno)
	assert.Equal(t, "hello, file", read(t, f))
	pos, errno := f.Seek(7, io.SeekStart)
	assert.Zero(t, errno)
	assert.EqualValues(t, 7, pos)
	_, errno = f.Pwrite([]byte("FILE"), 7)
	assert.Zero(t, errno)
	assert.Equal(t, "FILE", read(t, f))
	buf := make([]byte, 5)
	n, errno := f.Pread(buf, 0)
	assert.Zero(t, errno)
	assert.Equal(t, "hello", string(buf[:n]))
	assert.Zero(t, f.Truncate(5))
	st, errno := f.Stat()
	assert.Zero(t, errno)
	assert.EqualValues(t, 5, st.Size)
	assert.NotZero(t, st.Ino)
	assert.Zero(t, f.Sync())
	assert.Zero(t, f.Datasync())
	assert.Zero(t, f.Close())
	assert.Zero(t, f.Close(), "closing twice is harmless")
	_, errno = f.Read(buf)
	assert.Equal(t, sys.EBADF, errno)
}

func TestFileErrors(t *testing.T) {
	fs, _, _ := newFS(t, false)
	write(t, fs, "f", "text")
	require.Zero(t, fs.Mkdir("d", 0))
	tests := []struct {
		name string
		path string
		flag sys.Oflag
		want sys.Errno
	}{
		{"missing", "nothing", sys.O_RDONLY, sys.ENOENT},
		{"exclusive", "f", sys.O_CREAT | sys.O_EXCL | sys.O_WRONLY, sys.EEXIST},
		{"a directory to write", "d", sys.O_RDWR, sys.EISDIR},
		{"a directory to truncate", "d", sys.O_TRUNC | sys.O_WRONLY, sys.EISDIR},
		{"a file as a directory", "f", sys.O_DIRECTORY, sys.ENOTDIR},
		{"below a file", "f/x", sys.O_RDONLY, sys.ENOTDIR},
		{"a NUL byte", "f\x00", sys.O_RDONLY, sys.EINVAL},
		{"a long name", string(make255('x')) + "y", sys.O_RDONLY, sys.ENAMETOOLONG},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, errno := fs.OpenFile(tt.path, tt.flag, 0)
			assert.Equal(t, tt.want.Error(), errno.Error())
		})
	}
	f, errno := fs.OpenFile("f", sys.O_RDONLY, 0)
	require.Zero(t, errno)
	defer f.Close()
	_, errno = f.Write([]byte("x"))
	assert.Equal(t, sys.EBADF, errno)
	_, errno = f.Pread(make([]byte, 1), -1)
	assert.Equal(t, sys.EINVAL, errno)
	_, errno = f.Seek(0, 9)
	assert.Equal(t, sys.EINVAL, errno)
	assert.Equal(t, sys.EINVAL, f.Truncate(-1))
	_, errno = f.Readdir(1)
	assert.Equal(t, sys.ENOTDIR, errno)
}

func make255(c byte) []byte {
	b := make([]byte, 255)
	for i := range b {
		b[i] = c
	}
	return b
}

func TestAppend(t *testing.T) {
	fs, dir, _ := newFS(t, false)
	write(t, fs, "log", "one,")
	f, errno := fs.OpenFile("log", sys.O_WRONLY|sys.O_APPEND, 0)
	require.Zero(t, errno)
	defer f.Close()
	assert.True(t, f.IsAppend())
	_, errno = f.Write([]byte("two,"))
	assert.Zero(t, errno)
	_, errno = f.Pwrite([]byte("x"), 0)
	assert.Equal(t, sys.ENOTSUP, errno)

	require.Zero(t, f.SetAppend(false))
	assert.False(t, f.IsAppend())
	_, errno = f.Pwrite([]byte("ONE"), 0)
	assert.Zero(t, errno)
	require.Zero(t, f.SetAppend(true))
	_, errno = f.Write([]byte("three"))
	assert.Zero(t, errno)
	onDisk, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	assert.Equal(t, "ONE,two,three", string(onDisk))

	require.Zero(t, fs.Rename("log", "elsewhere"))
	assert.Equal(t, sys.ENOENT, f.SetAppend(false), "the file cannot be found again")
}

func TestDirectories(t *testing.T) {
	fs, dir, _ := newFS(t, false)
	require.Zero(t, fs.Mkdir("d", 0))
	require.Zero(t, fs.Mkdir("d/e", 0))
	write(t, fs, "d/f", "")
	assert.Equal(t, sys.EEXIST, fs.Mkdir("d", 0))
	assert.Equal(t, sys.EISDIR, fs.Unlink("d"))
	assert.Equal(t, sys.ENOTDIR, fs.Rmdir("d/f"))
	assert.Equal(t, sys.ENOTEMPTY, fs.Rmdir("d"))
	assert.Equal(t, sys.EPERM, fs.Rmdir("."), "the root stays")

	d, errno := fs.OpenFile("d", sys.O_DIRECTORY, 0)
	require.Zero(t, errno)
	entries, errno := d.Readdir(-1)
	require.Zero(t, errno)
	names := map[string]os.FileMode{}
	for _, e := range entries {
		names[e.Name] = e.Type
		assert.NotZero(t, e.Ino)
	}
	assert.Equal(t, map[string]os.FileMode{"e": os.ModeDir, "f": 0}, names)
	_, errno = d.Seek(0, io.SeekStart)
	assert.Zero(t, errno)
	again, errno := d.Readdir(1)
	assert.Zero(t, errno)
	assert.Len(t, again, 1)
	_, errno = d.Read(make([]byte, 1))
	assert.Equal(t, sys.EISDIR, errno)
	assert.Zero(t, d.Close())

	require.Zero(t, fs.Rename("d/f", "g"))
	require.Zero(t, fs.Link("g", "h"))
	require.Zero(t, fs.Unlink("g"))
	require.Zero(t, fs.Rmdir("d/e"))
	require.Zero(t, fs.Rmdir("d"))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func TestLinks(t *testing.T) {
	fs, _, _ := newFS(t, false)
	write(t, fs, "f", "text")
	require.Zero(t, fs.Mkdir("d", 0))
	require.Zero(t, fs.Symlink("../f", "d/l"))
	target, errno := fs.Readlink("d/l")
	assert.Zero(t, errno)
	assert.Equal(t, "../f", target)
	st, errno := fs.Lstat("d/l")
	assert.Zero(t, errno)
	assert.NotZero(t, st.Mode&os.ModeSymlink)
	st, errno = fs.Stat("d/l")
	assert.Zero(t, errno)
	assert.True(t, st.Mode.IsRegular())
	f, errno := fs.OpenFile("d/l", sys.O_RDONLY, 0)
	require.Zero(t, errno)
	assert.Equal(t, "text", read(t, f))
	assert.Zero(t, f.Close())
	_, errno = fs.OpenFile("d/l", sys.O_RDONLY|sys.O_NOFOLLOW, 0)
	assert.Equal(t, sys.ELOOP, errno)
	require.Zero(t, fs.Unlink("d/l"))
	_, errno = fs.Stat("f")
	assert.Zero(t, errno, "the link is gone, not what it led to")
}

func TestTimes(t *testing.T) {
	fs, _, _ := newFS(t, false)
	write(t, fs, "f", "")
	require.Zero(t, fs.Utimens("f", sys.UTIME_OMIT, 1_000_000_000))
	f, errno := fs.OpenFile("f", sys.O_RDONLY, 0)
	require.Zero(t, errno)
	defer f.Close()
	st, errno := f.Stat()
	assert.Zero(t, errno)
	assert.EqualValues(t, 1_000_000_000, st.Mtim)
	assert.NotEqualValues(t, 1_000_000_000, st.Atim)
	require.Zero(t, f.Utimens(2_000_000_000, sys.UTIME_OMIT))
	st, _ = f.Stat()
	assert.EqualValues(t, 2_000_000_000, st.Atim)
	assert.EqualValues(t, 1_000_000_000, st.Mtim)
}

func TestOpenFilesAreBounded(t *testing.T) {
	fs, _, _ := newFS(t, false)
	write(t, fs, "f", "")
	var open []sys.File
	for range rootfs.MaxOpen {
		f, errno := fs.OpenFile("f", sys.O_RDONLY, 0)
		require.Zero(t, errno)
		open = append(open, f)
	}
	_, errno := fs.OpenFile("f", sys.O_RDONLY, 0)
	assert.Equal(t, sys.EAGAIN, errno)
	for _, f := range open {
		require.Zero(t, f.Close())
	}
	f, errno := fs.OpenFile("f", sys.O_RDONLY, 0)
	require.Zero(t, errno)
	assert.Zero(t, f.Close())
}

func TestReadOnly(t *testing.T) {
	fs, dir, _ := newFS(t, true)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("text"), 0o644))
	f, errno := fs.OpenFile("f", sys.O_RDONLY, 0)
	require.Zero(t, errno)
	assert.Equal(t, "text", read(t, f))
	defer f.Close()

	changes := map[string]func() sys.Errno{
		"write":    func() sys.Errno { _, e := fs.OpenFile("f", sys.O_WRONLY, 0); return e },
		"create":   func() sys.Errno { _, e := fs.OpenFile("n", sys.O_CREAT, 0); return e },
		"truncate": func() sys.Errno { _, e := fs.OpenFile("f", sys.O_TRUNC, 0); return e },
		"append":   func() sys.Errno { _, e := fs.OpenFile("f", sys.O_APPEND, 0); return e },
		"mkdir":    func() sys.Errno { return fs.Mkdir("n", 0) },
		"rmdir":    func() sys.Errno { return fs.Rmdir("n") },
		"unlink":   func() sys.Errno { return fs.Unlink("f") },
		"rename":   func() sys.Errno { return fs.Rename("f", "n") },
		"link":     func() sys.Errno { return fs.Link("f", "n") },
		"symlink":  func() sys.Errno { return fs.Symlink("f", "n") },
		"utimens":  func() sys.Errno { return fs.Utimens("f", 1, 1) },
		"futimens": func() sys.Errno { return f.Utimens(1, 1) },
	}
	for name, change := range changes {
		assert.Equal(t, sys.EROFS, change(), name)
	}
	assert.Equal(t, sys.EBADF, writeErrno(f))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func writeErrno(f sys.File) sys.Errno {
	_, errno := f.Write([]byte("x"))
	return errno
}
