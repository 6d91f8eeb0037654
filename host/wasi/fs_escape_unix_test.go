//go:build unix

package wasi

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEscapes tries each way out with each function that takes a path. The
// control beside it is that the same function works on a path inside.
func TestEscapes(t *testing.T) {
	ways := map[string]func(t *testing.T, dir string) string{
		"dot dot":        func(*testing.T, string) string { return "../secret" },
		"dot dot inside": func(*testing.T, string) string { return "d/../../secret" },
		"absolute":       func(_ *testing.T, dir string) string { return filepath.Join(filepath.Dir(dir), "secret") },
		"absolute link": func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(dir), "secret"), filepath.Join(dir, "l")))
			return "l"
		},
		"relative link": func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink("../secret", filepath.Join(dir, "l")))
			return "l"
		},
		"link to a directory": func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink("..", filepath.Join(dir, "up")))
			return "up/secret"
		},
		"link through proc": func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink("/proc/self/root"+filepath.Dir(dir), filepath.Join(dir, "up")))
			return "up/secret"
		},
		"link of links": func(t *testing.T, dir string) string {
			require.NoError(t, os.Symlink("d/back", filepath.Join(dir, "l")))
			require.NoError(t, os.Symlink("../../secret", filepath.Join(dir, "d", "back")))
			return "l"
		},
	}
	open := func(how openFlags, flags descriptorFlags) func(d *descriptor, p string) error {
		return func(d *descriptor, p string) error {
			own, err := d.openAt(flagSymlinkFollow, p, how, flags)
			if err == nil {
				own.Value.drop()
			}
			return err
		}
	}
	now := newTimestamp{Now: true}
	operations := map[string]func(d *descriptor, p string) error{
		"read":     open(0, flagRead),
		"write":    open(0, flagWrite),
		"truncate": open(openTruncate, readWrite),
		"create":   open(openCreate, readWrite),
		"stat":     func(d *descriptor, p string) error { _, err := d.statAt(flagSymlinkFollow, p); return err },
		"hash":     func(d *descriptor, p string) error { _, err := d.metadataHashAt(flagSymlinkFollow, p); return err },
		"times":    func(d *descriptor, p string) error { return d.setTimesAt(flagSymlinkFollow, p, now, now) },
	}
	for way, plant := range ways {
		for op, do := range operations {
			t.Run(way+"/"+op, func(t *testing.T) {
				d, dir := workdir(t, false)
				put(t, dir, "inside", "text")
				require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
				path := plant(t, dir)

				assert.NoError(t, do(d, "inside"), "the control")
				err := do(d, path)
				require.Error(t, err)
				assert.Equal(t, codeNotPermitted, codeOf(err), "%v", err)
				assert.Equal(t, "secret", contents(t, filepath.Dir(dir), "secret"))
			})
		}
	}
}

func TestEscapesByName(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "f", "text")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	sub := d.openFor(t, "d", openDirectory, flagRead)
	for _, base := range []*descriptor{d, sub} {
		for _, out := range []string{"../x", "d/../../x", "../../x", filepath.Join(filepath.Dir(dir), "x")} {
			for name, err := range map[string]error{
				"mkdir":       base.createDirectoryAt(out),
				"rmdir":       base.removeDirectoryAt(out),
				"unlink":      base.unlinkFileAt(out),
				"rename to":   d.renameAt("f", base, out),
				"rename from": base.renameAt(out, d, "g"),
				"link to":     d.linkAt(0, "f", base, out),
				"link from":   base.linkAt(0, out, d, "g"),
				"symlink at":  base.symlinkAt("f", out),
			} {
				require.Error(t, err, "%s %s", name, out)
				assert.Contains(t, []errorCode{codeNotPermitted, codeNoEntry}, codeOf(err), "%s %s: %v", name, out, err)
			}
		}
	}
	for _, out := range []string{"../x", "../f", "f", "g"} {
		assert.NoFileExists(t, filepath.Join(filepath.Dir(dir), filepath.Base(out)))
	}
	assert.FileExists(t, filepath.Join(dir, "f"))
}

// TestSubdirectoriesConfine: what is opened through a directory stays below it,
// even within the workdir.
func TestSubdirectoriesConfine(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "f", "text")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	require.NoError(t, os.Symlink("../f", filepath.Join(dir, "d", "l")))
	sub := d.openFor(t, "d", openDirectory, flagRead)
	for _, p := range []string{"../f", "l"} {
		_, err := sub.openAt(flagSymlinkFollow, p, 0, flagRead)
		assert.Equal(t, codeNotPermitted, codeOf(err), "%s: %v", p, err)
	}
	d.openFor(t, "d/l", 0, flagRead)
}

func TestLinksThatLeadOut(t *testing.T) {
	d, dir := workdir(t, false)
	outside := filepath.Join(filepath.Dir(dir), "secret")
	require.NoError(t, d.createDirectoryAt("d"))
	sub := d.openFor(t, "d", openDirectory, flagRead)
	for _, l := range []struct{ target, link string }{
		{outside, "l"}, {"..", "l"}, {"../secret", "l"}, {"../../secret", "d/l"}, {"x/../../secret", "l"},
		{"", "l"}, {"a\x00b", "l"}, {strings.Repeat("x", maxPath+1), "l"},
	} {
		assert.Error(t, d.symlinkAt(l.target, l.link), "%q", l.target)
	}
	assert.Equal(t, codeNotPermitted, codeOf(sub.symlinkAt("../../secret", "l")))
	assert.NoError(t, sub.symlinkAt("..", "up"), "the control: this one stays inside")

	// Ones that are there can be looked at and removed, and what they hold is not
	// told.
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "l")))
	_, err := d.readlinkAt("l")
	assert.Equal(t, codeNotPermitted, codeOf(err))
	st, err := d.statAt(0, "l")
	require.NoError(t, err)
	assert.Equal(t, typeSymbolicLink, st.Type)
	assert.NoError(t, d.unlinkFileAt("l"))
	assert.Equal(t, "secret", contents(t, filepath.Dir(dir), "secret"))
}

// TestSwappedDirectory: a directory that is a link outwards each time it is looked
// at the second time.
func TestSwappedDirectory(t *testing.T) {
	d, dir := workdir(t, false)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	put(t, dir, "real/secret", "inside")
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "out")))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "d")))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, target := range []string{"..", "real"} {
				_ = os.Symlink(target, filepath.Join(dir, "next"))
				_ = os.Rename(filepath.Join(dir, "next"), filepath.Join(dir, "d"))
			}
		}
	}()
	for range 500 {
		if own, err := d.openAt(flagSymlinkFollow, "d/secret", 0, flagRead); err == nil {
			got, err := own.Value.read(100, 0)
			assert.NoError(t, err)
			assert.Equal(t, "inside", string(got.Data))
			own.Value.drop()
		}
		if own, err := d.openAt(flagSymlinkFollow, "d", openDirectory, flagRead); err == nil {
			_, err := own.Value.statAt(0, "work")
			assert.Error(t, err, "the directory above")
			own.Value.drop()
		}
		_ = d.unlinkFileAt("d/work")
		_ = d.createDirectoryAt("d/made")
	}
	close(stop)
	<-stopped
	assert.NoDirExists(t, filepath.Join(filepath.Dir(dir), "made"))
	assert.Equal(t, "secret", contents(t, filepath.Dir(dir), "secret"))
}

// TestPipesAndDevices: nothing waits for another process, and no device is opened.
func TestPipesAndDevices(t *testing.T) {
	d, dir := workdir(t, false)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666))
	require.NoError(t, os.Symlink("pipe", filepath.Join(dir, "l")))
	for _, p := range []string{"pipe", "l"} {
		for _, how := range []openFlags{0, openCreate, openTruncate} {
			for _, flags := range []descriptorFlags{0, flagRead, flagWrite, readWrite} {
				_, err := d.openAt(flagSymlinkFollow, p, how, flags)
				assert.Equal(t, codeAccess, codeOf(err), "%v", err)
			}
		}
		_, err := d.openAt(flagSymlinkFollow, p, openDirectory, flagRead)
		assert.Contains(t, []errorCode{codeAccess, codeNotDirectory}, codeOf(err))
	}
	st, err := d.statAt(0, "pipe")
	require.NoError(t, err, "it can be looked at")
	assert.Equal(t, typeFIFO, st.Type)
	assert.NoError(t, d.setTimesAt(0, "pipe", newTimestamp{Now: true}, newTimestamp{Now: true}))
	assert.NoError(t, d.renameAt("pipe", d, "p"))
	assert.NoError(t, d.unlinkFileAt("p"))
}

// TestNamesThatAreNotUTF8 cannot be told to a guest, and do not hide the others.
func TestNamesThatAreNotUTF8(t *testing.T) {
	d, dir := workdir(t, false)
	put(t, dir, "bad\xff", "")
	put(t, dir, "good", "")
	require.NoError(t, os.Symlink("bad\xff", filepath.Join(dir, "l")))
	s, err := d.readDirectory()
	require.NoError(t, err)
	defer s.Value.drop()
	var names []string
	failures := 0
	for range 3 {
		e, err := s.Value.next()
		if err != nil {
			assert.Equal(t, codeIllegalByteSequence, codeOf(err))
			failures++
			continue
		}
		names = append(names, e.Name)
	}
	assert.ElementsMatch(t, []string{"good", "l"}, names)
	assert.Equal(t, 1, failures)
	_, err = d.readlinkAt("l")
	assert.Equal(t, codeIllegalByteSequence, codeOf(err))
}

func TestWorkdirThatIsGone(t *testing.T) {
	d, dir := workdir(t, false)
	require.NoError(t, os.RemoveAll(dir))
	_, err := d.openAt(0, "f", openCreate, flagWrite)
	assert.Equal(t, codeNoEntry, codeOf(err))
	assert.Equal(t, codeNoEntry, codeOf(d.createDirectoryAt("d")))
	_, err = d.stat()
	assert.NoError(t, err, "its handle is still one")
}

// FuzzPaths: whatever a path is, nothing happens outside of the directory.
func FuzzPaths(f *testing.F) {
	for _, p := range []string{"f", "../x", "d/../../x", "/x", "", ".", "..", "d/", "./d/./f", "l/x", "\x00", "d//f", "l/../x", "a\\..\\x"} {
		f.Add(p, p)
	}
	f.Fuzz(func(t *testing.T, p, q string) {
		d, dir := workdir(t, false)
		require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
		require.NoError(t, os.Symlink("..", filepath.Join(dir, "l")))
		put(t, dir, "f", "text")
		if own, err := d.openAt(flagSymlinkFollow, p, openCreate, readWrite); err == nil {
			_, _ = own.Value.write([]byte("x"), 0)
			own.Value.drop()
		}
		_ = d.createDirectoryAt(q)
		_ = d.renameAt(p, d, q)
		_ = d.linkAt(0, q, d, p)
		_ = d.symlinkAt(p, q)
		_ = d.unlinkFileAt(q)
		_ = d.removeDirectoryAt(p)
		above, err := os.ReadDir(filepath.Dir(dir))
		require.NoError(t, err)
		require.Len(t, above, 2)
		require.Equal(t, "secret", contents(t, filepath.Dir(dir), "secret"))
	})
}
