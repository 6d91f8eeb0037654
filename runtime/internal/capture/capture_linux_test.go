package capture

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a capture and plays the command: the test writes what it prints.
func open(t *testing.T, dir string, limit int64) (c *Capture, stdout, stderr *os.File) {
	t.Helper()
	c, err := Open(dir, "cmd", limit)
	require.NoError(t, err)
	out, errs := c.Writers()
	stdout, stderr = duplicate(t, out), duplicate(t, errs)
	c.Start()
	return c, stdout, stderr
}

func duplicate(t *testing.T, fd uintptr) *os.File {
	t.Helper()
	dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	require.NoError(t, err)
	f := os.NewFile(uintptr(dup), "end")
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t *testing.T, f *os.File, b []byte) {
	t.Helper()
	_, err := f.Write(b)
	require.NoError(t, err)
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func TestCaptureKeepsEveryByte(t *testing.T) {
	for _, size := range []int{1, 4095, 32<<10 + 1, 64 << 10, 3<<20 + 7} {
		c, stdout, stderr := open(t, t.TempDir(), 1<<30)
		want := noise(size)
		write(t, stdout, want)
		write(t, stderr, []byte("e"))
		stdout.Close()
		stderr.Close()
		c.Finish()
		s := c.State()
		assert.True(t, bytes.Equal(want, content(t, s.StdoutPath)), "%d bytes", size)
		assert.Equal(t, "e", string(content(t, s.StderrPath)))
		assert.Equal(t, int64(size), s.StdoutBytes)
		assert.Equal(t, int64(1), s.StderrBytes)
		assert.False(t, s.Truncated)
		assert.NoError(t, s.Err)
	}
}

func TestCaptureMakesNoFileForNothing(t *testing.T) {
	dir := t.TempDir()
	c, stdout, stderr := open(t, dir, 100)
	stdout.Close()
	stderr.Close()
	c.Finish()
	require.Empty(t, names(t, dir))
	require.Equal(t, filepath.Join(dir, "cmd.stdout"), c.State().StdoutPath)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestCaptureCapHoldsForBothTogether(t *testing.T) {
	c, stdout, stderr := open(t, t.TempDir(), 1_000_000)
	want := noise(700_000)
	write(t, stdout, want)
	write(t, stderr, want)
	stdout.Close()
	stderr.Close()
	c.Finish()
	s := c.State()
	out, errs := content(t, s.StdoutPath), content(t, s.StderrPath)
	assert.Equal(t, 1_000_000, len(out)+len(errs))
	assert.True(t, bytes.HasPrefix(want, out) && bytes.HasPrefix(want, errs), "what is kept comes first")
	assert.Equal(t, int64(700_000), s.StdoutBytes, "what is dropped is counted")
	assert.Equal(t, int64(700_000), s.StderrBytes)
	assert.True(t, s.Truncated)
}

func TestCaptureCapExactlyMet(t *testing.T) {
	c, stdout, stderr := open(t, t.TempDir(), 10)
	write(t, stdout, []byte("0123456789"))
	stdout.Close()
	stderr.Close()
	c.Finish()
	require.False(t, c.State().Truncated)
}

func TestCaptureOfNothingKept(t *testing.T) {
	dir := t.TempDir()
	c, stdout, stderr := open(t, dir, 0)
	write(t, stdout, noise(1<<20))
	stdout.Close()
	stderr.Close()
	c.Finish()
	assert.Equal(t, int64(1<<20), c.State().StdoutBytes)
	assert.True(t, c.State().Truncated)
	assert.Empty(t, names(t, dir))
}

// TestCaptureFinishDoesNotWaitForHolders: what a daemon holds open delays
// nothing, what was written before is all kept, what it writes later is taken
// from it and dropped, and it meets no broken pipe.
func TestCaptureFinishDoesNotWaitForHolders(t *testing.T) {
	c, stdout, stderr := open(t, t.TempDir(), 1<<20)
	write(t, stdout, []byte("before\n"))
	c.Finish()
	s := c.State()
	assert.Equal(t, "before\n", string(content(t, s.StdoutPath)))
	write(t, stdout, noise(1<<20))
	write(t, stderr, noise(1<<20))
	assert.Equal(t, "before\n", string(content(t, s.StdoutPath)))
	assert.Equal(t, s, c.State(), "nor is it counted")
	assert.NoFileExists(t, s.StderrPath)
	c.Finish()
}

// TestCaptureFinishTakesWhatIsInThePipe fills the pipes while nobody reads.
func TestCaptureFinishTakesWhatIsInThePipe(t *testing.T) {
	c, err := Open(t.TempDir(), "cmd", 1<<20)
	require.NoError(t, err)
	out, errs := c.Writers()
	stdout, stderr := duplicate(t, out), duplicate(t, errs)
	want := noise(60 << 10)
	write(t, stdout, want)
	write(t, stderr, want)
	for _, s := range c.streams {
		s.finish()
	}
	c.Start()
	c.Finish()
	assert.True(t, bytes.Equal(want, content(t, c.State().StdoutPath)))
	assert.True(t, bytes.Equal(want, content(t, c.State().StderrPath)))
}

func TestCaptureGoesOnWithoutAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o700))
	c, stdout, stderr := open(t, dir, 1<<20)
	require.NoError(t, os.Remove(dir))
	write(t, stdout, noise(200_000))
	stdout.Close()
	stderr.Close()
	c.Finish()
	s := c.State()
	assert.Equal(t, int64(200_000), s.StdoutBytes)
	assert.True(t, s.Truncated)
	assert.ErrorContains(t, s.Err, s.StdoutPath)
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	require.NoError(t, os.WriteFile(target, []byte("mine"), 0o600))
	for name, prepare := range map[string]func(path string) error{
		"a file that is there": func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"a link":               func(p string) error { return os.Symlink(target, p) },
		"a link to nothing":    func(p string) error { return os.Symlink(target+"x", p) },
	} {
		for _, suffix := range []string{StdoutSuffix, StderrSuffix} {
			t.Run(name+suffix, func(t *testing.T) {
				sub := t.TempDir()
				require.NoError(t, prepare(filepath.Join(sub, "cmd"+suffix)))
				_, err := Open(sub, "cmd", 10)
				require.ErrorContains(t, err, "cmd"+suffix)
			})
		}
	}
	_, err := Open(filepath.Join(dir, "missing"), "cmd", 10)
	require.ErrorContains(t, err, "missing")
	require.Equal(t, "mine", string(content(t, target)))
}

// TestCreateRefusesWhatCameMeanwhile: a link that is put in the way after Open
// is not followed.
func TestCreateRefusesWhatCameMeanwhile(t *testing.T) {
	dir := t.TempDir()
	c, stdout, stderr := open(t, dir, 100)
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.Symlink(target, filepath.Join(dir, "cmd.stdout")))
	write(t, stdout, []byte("x"))
	stdout.Close()
	stderr.Close()
	c.Finish()
	require.Error(t, c.State().Err)
	require.NoFileExists(t, target)
}

func TestAbortLeavesNothing(t *testing.T) {
	dir, before := t.TempDir(), descriptors(t)
	for range 3 {
		c, err := Open(dir, "cmd", 10)
		require.NoError(t, err)
		c.Abort()
	}
	require.Empty(t, names(t, dir))
	require.Subset(t, before, descriptors(t))
}

func TestFinishLeavesNoDescriptor(t *testing.T) {
	before := descriptors(t)
	c, stdout, stderr := open(t, t.TempDir(), 10)
	write(t, stdout, []byte("x"))
	stdout.Close()
	stderr.Close()
	c.Finish()
	// The readers close their pipes once the files are done.
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(descriptors(t), func(d string) bool { return !slices.Contains(before, d) })
	}, time.Minute, time.Millisecond)
}

// descriptors says what this process has open. The collector may close files of
// earlier tests at any time, so that only what is new means something.
func descriptors(t *testing.T) []string {
	t.Helper()
	null()
	var open []string
	for _, fd := range names(t, "/proc/self/fd") {
		if target, err := os.Readlink("/proc/self/fd/" + fd); err == nil { // not of the directory just read
			open = append(open, target)
		}
	}
	return open
}

func TestAdoptGoesOn(t *testing.T) {
	dir := t.TempDir()
	c, stdout, stderr := open(t, dir, 100)
	r1, r2, err := c.Readers()
	require.NoError(t, err)
	write(t, stdout, []byte("first "))
	c.Finish()
	for _, s := range c.streams {
		s.pipe.Close() // as the death of the process does
	}
	write(t, stdout, []byte("second"))

	a, err := Adopt(dir, "cmd", 12, r1, r2)
	require.NoError(t, err)
	a.Start()
	stdout.Close()
	<-a.streams[0].settled
	write(t, stderr, []byte("over the cap"))
	stderr.Close()
	<-a.streams[1].settled
	s := a.State()
	assert.Equal(t, "first second", string(content(t, s.StdoutPath)))
	assert.Equal(t, int64(12), s.StderrBytes)
	assert.NoFileExists(t, s.StderrPath, "the cap counts what was there")
	assert.True(t, s.Truncated)
}

func TestReadersOfAnEndedStream(t *testing.T) {
	c, stdout, stderr := open(t, t.TempDir(), 100)
	stdout.Close()
	stderr.Close()
	c.Finish()
	for _, s := range c.streams {
		s.pipe.Close()
	}
	_, _, err := c.Readers()
	require.Error(t, err)
}

// TestCopyServesWhereSpliceCannot: /dev/full takes splice and fails, a file
// opened for appending refuses it.
func TestCopyServesWhereSpliceCannot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	file, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_APPEND|unix.O_CLOEXEC, 0o600)
	require.NoError(t, err)
	defer unix.Close(file)
	s := &stream{file: file}
	s.path, s.budget = path, new(budget)
	s.budget.left.Store(1 << 20)
	write(t, w, []byte("hello"))
	n, err := s.move(int(r.Fd()), chunk)
	require.NoError(t, err)
	require.Equal(t, 5, n)
	require.True(t, s.copies)
	require.Equal(t, "hello", string(content(t, path)))
	w.Close()
	n, err = s.move(int(r.Fd()), chunk)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestFullDiskDropsTheRest(t *testing.T) {
	for _, copies := range []bool{false, true} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		defer r.Close()
		full, err := unix.Open("/dev/full", unix.O_WRONLY|unix.O_CLOEXEC, 0)
		require.NoError(t, err)
		defer unix.Close(full)
		s := &stream{file: full, copies: copies}
		s.path, s.budget = "/dev/full", new(budget)
		s.budget.left.Store(1 << 20)
		for range 3 {
			write(t, w, []byte(strings.Repeat("x", 1000)))
			_, err := s.move(int(r.Fd()), chunk)
			if err != unix.EAGAIN {
				require.NoError(t, err)
			}
		}
		w.Close()
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Empty(t, rest, "everything was taken")
		require.Equal(t, int64(3000), s.total.Load())
		require.ErrorIs(t, *s.failed.Load(), unix.ENOSPC)
		require.True(t, s.budget.dropped.Load())
	}
}
