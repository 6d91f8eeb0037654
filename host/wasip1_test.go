package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The functions of WASI that the guest below lets the test call.
var wasiSignatures = map[string]string{
	"args_get": "ii:i", "args_sizes_get": "ii:i", "environ_get": "ii:i", "environ_sizes_get": "ii:i",
	"clock_time_get": "ili:i", "random_get": "ii:i", "fd_write": "iiii:i", "fd_read": "iiii:i",
	"fd_renumber": "ii:i", "fd_prestat_dir_name": "iii:i", "fd_prestat_get": "ii:i", "fd_close": "i:i",
	"path_open": "iiiiillii:i", "path_create_directory": "iii:i", "poll_oneoff": "iiii:i", "sched_yield": ":i",
}

// A wasiGuest is a guest whose exports are the functions of WASI.
type wasiGuest struct {
	*testing.T
	*Instance
}

func newWASIGuest(t *testing.T, c InstanceConfig) *wasiGuest {
	t.Helper()
	m := &module{pages: []byte{0, 1}}
	type forward struct {
		name, sig string
		imp       byte
	}
	var all []forward
	for name, sig := range wasiSignatures {
		all = append(all, forward{name, sig, m.imp(wasip1Module, name, sig)})
	}
	for _, f := range all {
		var body []byte
		for p := range strings.Index(f.sig, ":") {
			body = append(body, 0x20, byte(p))
		}
		m.def(f.name, f.sig, 0, append(body, 0x10, f.imp)...)
	}
	return &wasiGuest{t, instantiate(t, load(t, m.bytes(), LoadOptions{ComputeLimit: time.Minute}), c)}
}

// call calls a function and gives its errno.
func (g *wasiGuest) call(name string, args ...uint64) uint64 {
	g.Helper()
	return g.callCtx(context.Background(), name, args...)
}

func (g *wasiGuest) callCtx(ctx context.Context, name string, args ...uint64) uint64 {
	g.Helper()
	out, err := core(ctx, g.Instance, name, args...)
	require.NoError(g, err, name)
	return out[0]
}

func (g *wasiGuest) memory() []byte { return g.binding.Memory.View() }

func (g *wasiGuest) u32(at int) uint32 { return binary.LittleEndian.Uint32(g.memory()[at:]) }

func (g *wasiGuest) put(at int, b string) (ptr, length uint64) {
	copy(g.memory()[at:], b)
	return uint64(at), uint64(len(b))
}

// iov describes a buffer, at 0.
func (g *wasiGuest) iov(ptr, length uint64) {
	binary.LittleEndian.PutUint32(g.memory()[0:], uint32(ptr))
	binary.LittleEndian.PutUint32(g.memory()[4:], uint32(length))
}

func TestWASIStreams(t *testing.T) {
	var out, errOut bytes.Buffer
	g := newWASIGuest(t, InstanceConfig{Stdin: strings.NewReader("from the host"), Stdout: &out, Stderr: &errOut})
	g.iov(g.put(64, "to stdout"))
	assert.Zero(t, g.call("fd_write", 1, 0, 1, 8))
	assert.EqualValues(t, 9, g.u32(8))
	g.iov(g.put(64, "to stderr"))
	assert.Zero(t, g.call("fd_write", 2, 0, 1, 8))
	assert.Equal(t, "to stdout", out.String())
	assert.Equal(t, "to stderr", errOut.String())
	g.iov(64, 100)
	assert.Zero(t, g.call("fd_read", 0, 0, 1, 8))
	assert.Equal(t, "from the host", string(g.memory()[64:64+g.u32(8)]))

	none := newWASIGuest(t, InstanceConfig{})
	none.iov(none.put(64, "x"))
	assert.Zero(t, none.call("fd_write", 1, 0, 1, 8), "it is swallowed")
	assert.Zero(t, none.call("fd_read", 0, 0, 1, 8))
	assert.Zero(t, none.u32(8), "there is nothing to read")
}

func TestWASIArgumentsAndEnvironment(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	g := newWASIGuest(t, InstanceConfig{Args: []string{"prog", "an arg"}, Env: []string{"A=1", "B=x=y"}, Workdir: root})
	assert.Zero(t, g.call("args_sizes_get", 0, 4))
	assert.EqualValues(t, 2, g.u32(0))
	assert.Zero(t, g.call("args_get", 64, 128))
	assert.Equal(t, "prog\x00an arg\x00", string(g.memory()[128:128+g.u32(4)]))
	assert.Zero(t, g.call("environ_sizes_get", 0, 4))
	assert.Zero(t, g.call("environ_get", 64, 128))
	env := strings.Split(string(g.memory()[128:128+g.u32(4)]), "\x00")
	assert.ElementsMatch(t, []string{"PWD=/workdir", "A=1", "B=x=y", ""}, env)

	bad := load(t, newWASIGuestBytes(), LoadOptions{Name: "g"})
	for env, want := range map[string]string{
		"novalue": `cannot start guest g: the environment has "novalue", which is not NAME=value`,
		"=x":      `cannot start guest g: the environment has "=x", which is not NAME=value`,
		"A=\x00":  "cannot start guest g: environ invalid: contains NUL character",
	} {
		_, err := bad.Instantiate(context.Background(), InstanceConfig{Env: []string{env}})
		assert.EqualError(t, err, want)
	}
}

func newWASIGuestBytes() []byte {
	m := &module{}
	m.imp(wasip1Module, "sched_yield", ":i")
	return m.bytes()
}

func TestWASIClocksAndRandomNumbersAreReal(t *testing.T) {
	g := newWASIGuest(t, InstanceConfig{})
	now := func(clock uint64) time.Duration {
		require.Zero(t, g.call("clock_time_get", clock, 0, 16))
		return time.Duration(binary.LittleEndian.Uint64(g.memory()[16:]))
	}
	assert.WithinDuration(t, time.Now(), time.Unix(0, int64(now(clockRealtime))), time.Hour)
	first := now(clockMonotonic)
	assert.Greater(t, now(clockMonotonic), first)
	assert.Zero(t, g.call("random_get", 64, 32))
	assert.Zero(t, g.call("random_get", 96, 32))
	assert.NotEqual(t, g.memory()[64:96], g.memory()[96:128])
	assert.NotEqual(t, make([]byte, 32), g.memory()[64:96])
}

// open opens a path in the workdir, and gives the errno.
func (g *wasiGuest) open(path string, oflags, rights uint64) uint64 {
	ptr, length := g.put(256, path)
	return g.call("path_open", 3, 1, ptr, length, oflags, rights, rights, 0, 8)
}

func TestWASIWorkdir(t *testing.T) {
	const creat, read, write, perm, rofs = 1, 2, 64, 63, 69
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("in the workdir"), 0o644))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "out")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	g := newWASIGuest(t, InstanceConfig{Workdir: root})
	assert.Zero(t, g.call("fd_prestat_dir_name", 3, 64, 8))
	assert.Equal(t, "/workdir", string(g.memory()[64:72]))
	require.Zero(t, g.open("f", 0, read))
	fd := uint64(g.u32(8))
	g.iov(512, 100)
	assert.Zero(t, g.call("fd_read", fd, 0, 1, 16))
	assert.Equal(t, "in the workdir", string(g.memory()[512:512+g.u32(16)]))
	assert.EqualValues(t, perm, g.open("out", 0, read))
	assert.EqualValues(t, perm, g.open("../x", creat, write))
	require.Zero(t, g.open("new", creat, write))
	assert.FileExists(t, filepath.Join(dir, "new"))

	readOnly := newWASIGuest(t, InstanceConfig{Workdir: root, ReadOnly: true})
	assert.Zero(t, readOnly.open("f", 0, read))
	assert.EqualValues(t, rofs, readOnly.open("f", 0, read|write))
	assert.EqualValues(t, rofs, readOnly.open("newer", creat, write))
	ptr, length := readOnly.put(256, "dir")
	assert.EqualValues(t, rofs, readOnly.call("path_create_directory", 3, ptr, length))

	none := newWASIGuest(t, InstanceConfig{})
	assert.EqualValues(t, wasiBadf, none.call("fd_prestat_get", 3, 64), "there is no directory")
}

// TestWASIDescriptorsStayLow: wazero's table is as long as its highest number.
func TestWASIDescriptorsStayLow(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	g := newWASIGuest(t, InstanceConfig{Workdir: root})
	const creat, write = 1, 64
	require.Zero(t, g.open("f", creat, write))
	fd := uint64(g.u32(8))
	assert.EqualValues(t, wasiBadf, g.call("fd_renumber", fd, 1<<31-1))
	assert.EqualValues(t, wasiBadf, g.call("fd_renumber", fd, maxDescriptor+1))
	assert.Zero(t, g.call("fd_renumber", fd, 100))
	assert.Zero(t, g.call("fd_close", 100))
}

// subscribe writes subscriptions at 1024 and gives their number.
func (g *wasiGuest) subscribe(subs ...[]byte) uint64 {
	copy(g.memory()[1024:], bytes.Join(subs, nil))
	return uint64(len(subs))
}

func clockSub(user byte, clock uint32, timeout uint64, flags uint16) []byte {
	s := make([]byte, subscriptionSize)
	s[0], s[8] = user, eventClock
	binary.LittleEndian.PutUint32(s[16:], clock)
	binary.LittleEndian.PutUint64(s[24:], timeout)
	binary.LittleEndian.PutUint16(s[40:], flags)
	return s
}

func fdSub(user, kind byte) []byte {
	s := make([]byte, subscriptionSize)
	s[0], s[8] = user, kind
	return s
}

// poll gives the guest's own data of the events that came, or the errno.
func (g *wasiGuest) poll(ctx context.Context, n uint64) (users []byte, errno uint64) {
	errno = g.callCtx(ctx, "poll_oneoff", 1024, 4096, n, 8)
	if errno != wasiSuccess {
		return nil, errno
	}
	for i := range g.u32(8) {
		users = append(users, g.memory()[4096+i*eventSize])
	}
	return users, 0
}

func TestWASIPoll(t *testing.T) {
	ctx := context.Background()
	g := newWASIGuest(t, InstanceConfig{})
	future := uint64(time.Now().Add(time.Hour).UnixNano())
	tests := []struct {
		name string
		subs [][]byte
		want []byte
	}{
		{"a short time", [][]byte{clockSub(1, clockMonotonic, 1000, 0)}, []byte{1}},
		{"the shorter of two", [][]byte{clockSub(1, clockMonotonic, uint64(time.Hour), 0), clockSub(2, clockRealtime, 1000, 0)}, []byte{2}},
		{"a time that has come", [][]byte{clockSub(1, clockRealtime, 1000, flagAbstime), clockSub(2, clockRealtime, future, flagAbstime)}, []byte{1}},
		{"an instant that has come", [][]byte{clockSub(1, clockMonotonic, 1000, flagAbstime)}, []byte{1}},
		{"files are ready", [][]byte{clockSub(1, clockMonotonic, uint64(time.Hour), 0), fdSub(2, eventFdRead), fdSub(3, eventFdWrite)}, []byte{2, 3}},
		{"no time at all", [][]byte{clockSub(1, clockMonotonic, 0, 0)}, []byte{1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, errno := g.poll(ctx, g.subscribe(tt.subs...))
			assert.Zero(t, errno)
			assert.Equal(t, tt.want, got)
		})
	}
	for name, n := range map[string]uint64{
		"nothing":          0,
		"very much":        maxSubscriptions + 1,
		"a kind of nought": g.subscribe(fdSub(1, 9)),
	} {
		_, errno := g.poll(ctx, n)
		assert.EqualValues(t, wasiInval, errno, name)
	}
	_, errno := g.poll(ctx, g.subscribe(clockSub(1, 7, 1, flagAbstime)))
	assert.EqualValues(t, wasiInval, errno, "a clock that is none")
	assert.EqualValues(t, wasiFault, g.call("poll_oneoff", 65500, 0, 1, 8))
	assert.EqualValues(t, wasiFault, g.call("poll_oneoff", 1024, 65500, 100, 8))
}

// TestWASISleepEnds: a guest that sleeps for ever ends with its call.
func TestWASISleepEnds(t *testing.T) {
	g := newWASIGuest(t, InstanceConfig{})
	n := g.subscribe(clockSub(1, clockMonotonic, 1<<63, 0))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := core(ctx, g.Instance, "poll_oneoff", 1024, 4096, n, 8)
		done <- err
	}()
	for g.meter.state.Load() >= -1 { // until it has gone to sleep
		select {
		case err := <-done:
			t.Fatal(err)
		default:
		}
	}
	cancel()
	assert.ErrorIs(t, <-done, ErrCanceled)
}
