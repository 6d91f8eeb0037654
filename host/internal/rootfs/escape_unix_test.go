//go:build unix

package rootfs_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/murmur-capsule/murmur/host/internal/rootfs"
)

// TestEscapes tries each way out with each operation. The control beside it is
// that the same operation works on a path inside.
func TestEscapes(t *testing.T) {
	ways := map[string]func(t *testing.T, dir, outside string) string{
		"dot dot":        func(*testing.T, string, string) string { return "../secret" },
		"dot dot inside": func(*testing.T, string, string) string { return "d/../../secret" },
		"absolute link": func(t *testing.T, dir, outside string) string {
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, "l")))
			return "l"
		},
		"relative link": func(t *testing.T, dir, _ string) string {
			require.NoError(t, os.Symlink("../secret", filepath.Join(dir, "l")))
			return "l"
		},
		"link to a directory": func(t *testing.T, dir, _ string) string {
			require.NoError(t, os.Symlink("..", filepath.Join(dir, "up")))
			return "up/secret"
		},
		"link through proc": func(t *testing.T, dir, outside string) string {
			require.NoError(t, os.Symlink("/proc/self/root"+outside, filepath.Join(dir, "l")))
			return "l"
		},
	}
	operations := map[string]func(fs *rootfs.FS, path string) sys.Errno{
		"read":     func(fs *rootfs.FS, p string) sys.Errno { return openErrno(fs, p, sys.O_RDONLY) },
		"write":    func(fs *rootfs.FS, p string) sys.Errno { return openErrno(fs, p, sys.O_WRONLY) },
		"truncate": func(fs *rootfs.FS, p string) sys.Errno { return openErrno(fs, p, sys.O_TRUNC|sys.O_RDWR) },
		"create":   func(fs *rootfs.FS, p string) sys.Errno { return openErrno(fs, p, sys.O_CREAT|sys.O_RDWR) },
		"stat":     func(fs *rootfs.FS, p string) sys.Errno { _, e := fs.Stat(p); return e },
		"utimens":  func(fs *rootfs.FS, p string) sys.Errno { return fs.Utimens(p, 1, 1) },
	}
	for way, plant := range ways {
		for op, do := range operations {
			t.Run(way+"/"+op, func(t *testing.T) {
				fs, dir, outside := newFS(t, false)
				require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
				write(t, fs, "inside", "text")
				path := plant(t, dir, outside)

				assert.Zero(t, do(fs, "inside"), "the control")
				assert.Equal(t, sys.EPERM, do(fs, path))
				got, err := os.ReadFile(outside)
				require.NoError(t, err)
				assert.Equal(t, "secret", string(got))
			})
		}
	}
}

func openErrno(fs *rootfs.FS, path string, flag sys.Oflag) sys.Errno {
	f, errno := fs.OpenFile(path, flag, 0)
	if errno == 0 {
		f.Close()
	}
	return errno
}

func TestEscapesByName(t *testing.T) {
	fs, dir, outside := newFS(t, false)
	write(t, fs, "f", "text")
	for _, out := range []string{"../x", "d/../../x", outside} {
		assert.Contains(t, []sys.Errno{sys.EPERM, sys.ENOENT, sys.ENOTDIR}, fs.Mkdir(out, 0), out)
		assert.NotZero(t, fs.Rename("f", out), out)
		assert.NotZero(t, fs.Link("f", out), out)
	}
	assert.Equal(t, sys.EPERM, fs.Rename("../secret", "g"))
	assert.Equal(t, sys.EPERM, fs.Link("../secret", "g"))
	assert.Equal(t, sys.EPERM, fs.Unlink("../secret"))
	assert.Equal(t, sys.EPERM, fs.Rmdir("../work"))
	_, err := os.Stat(filepath.Join(filepath.Dir(dir), "x"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.FileExists(t, outside)
	assert.FileExists(t, filepath.Join(dir, "f"))
}

func TestSymlinksThatLeadOutAreNotMade(t *testing.T) {
	fs, _, outside := newFS(t, false)
	require.Zero(t, fs.Mkdir("d", 0))
	for _, l := range []struct{ target, link string }{
		{outside, "l"}, {"..", "l"}, {"../secret", "l"}, {"../../secret", "d/l"}, {"x/../../secret", "l"},
		{"", "l"}, {"a\x00b", "l"},
	} {
		assert.NotZero(t, fs.Symlink(l.target, l.link), "%q", l.target)
	}
	assert.Zero(t, fs.Symlink("..", "d/up"), "the control: this one stays inside")
}

func TestRemovingLinksThatLeadOut(t *testing.T) {
	fs, dir, outside := newFS(t, false)
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "l")))
	_, errno := fs.Lstat("l")
	assert.Zero(t, errno)
	assert.Zero(t, fs.Unlink("l"))
	assert.FileExists(t, outside)
}

// TestPipesAndDevices: neither opening nor anything else waits for another
// process, and no device is opened.
func TestPipesAndDevices(t *testing.T) {
	fs, dir, _ := newFS(t, false)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666))
	for _, flag := range []sys.Oflag{sys.O_RDONLY, sys.O_WRONLY, sys.O_RDWR, sys.O_CREAT | sys.O_WRONLY} {
		_, errno := fs.OpenFile("pipe", flag, 0)
		assert.Equal(t, sys.EACCES, errno)
	}
	require.Zero(t, fs.Symlink("pipe", "l"))
	_, errno := fs.OpenFile("l", sys.O_RDONLY, 0)
	assert.Equal(t, sys.EACCES, errno)
	st, errno := fs.Stat("pipe")
	assert.Zero(t, errno, "it can be looked at")
	assert.NotZero(t, st.Mode&os.ModeNamedPipe)
	assert.Zero(t, fs.Unlink("pipe"))
}

func TestWorkdirThatIsGone(t *testing.T) {
	fs, dir, _ := newFS(t, false)
	require.NoError(t, os.RemoveAll(dir))
	assert.Equal(t, sys.ENOENT, openErrno(fs, "f", sys.O_CREAT|sys.O_RDWR))
	assert.Equal(t, sys.ENOENT, fs.Mkdir("d", 0))
}
