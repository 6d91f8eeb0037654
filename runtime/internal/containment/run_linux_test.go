package containment

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A stage is a sandbox with a workdir, for commands of a shell.
type stage struct {
	t       *testing.T
	dir     string
	sandbox *Sandbox
}

// starts numbers the commands of all stages: a group may outlive its stage.
var starts atomic.Int64

// newStage opens a sandbox on this host; spoil takes mechanisms away.
func newStage(t *testing.T, a Ask, spoil ...func(*Host)) *stage {
	h := Probe(a.Class == Sealed)
	for _, f := range spoil {
		f(&h)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p, err := Plan(a, h, Facts{Workdir: dir})
	require.NoError(t, err)
	s, err := Open(p)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &stage{t: t, dir: dir, sandbox: s}
}

// withoutGroups is a host on which no control group can be made.
func withoutGroups(h *Host) {
	h.Groups = Groups{}
	for _, m := range []Mechanism{MechGroupKill, MechGroupPids, MechGroupMemory} {
		h.Found[m] = Finding{Why: "taken away"}
	}
}

// start starts a command line of bash.
func (st *stage) start(line string, out *os.File) *Command {
	cmd := exec.Command("/bin/bash", "-c", line)
	cmd.Dir = st.dir
	view := st.sandbox.Profile().View()
	cmd.Env = []string{"PATH=/usr/local/go/bin:/usr/bin:/bin", "HOME=" + view, "TMPDIR=" + view, "GOCACHE=" + view + "/.cache", "MURMUR_WORK=x"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout, cmd.Stderr = out, out
	c, err := start(st.sandbox, cmd, fmt.Sprintf("%d-%d", os.Getpid(), starts.Add(1)))
	require.NoError(st.t, err)
	return c
}

// run runs a command line to its end and returns what it printed.
func (st *stage) run(line string) (string, End) {
	file, err := os.CreateTemp(st.t.TempDir(), "out")
	require.NoError(st.t, err)
	defer file.Close()
	end := finish(st.t, st.start(line, file))
	text, err := os.ReadFile(file.Name())
	require.NoError(st.t, err)
	return string(text), end
}

// everyClass runs fn under each class of this host, and under sealed without
// control groups, which is another way of starting.
func everyClass(t *testing.T, fn func(t *testing.T, a Ask, spoil ...func(*Host))) {
	for _, class := range classesOf(t, Probe(true)) {
		t.Run(string(class), func(t *testing.T) { fn(t, Ask{Class: class}) })
	}
	if Probe(true).Has(MechSealedRoot) {
		t.Run("sealed without groups", func(t *testing.T) { fn(t, Ask{Class: Sealed}, withoutGroups) })
	}
}

func TestStart_builds(t *testing.T) {
	const source = `package main
func main() { println("hello") }`
	everyClass(t, func(t *testing.T, a Ask, spoil ...func(*Host)) {
		st := newStage(t, a, spoil...)
		require.NoError(t, os.WriteFile(filepath.Join(st.dir, "main.go"), []byte(source), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(st.dir, "main.c"), []byte("#include <stdio.h>\nint main(void){puts(\"hello\");}"), 0o644))
		for name, c := range map[string][2]string{
			"shell":      {"echo a | tee b >/dev/null && cat <(cat b) && mkfifo f && (echo c >f &) && cat f", "a\nc"},
			"here text":  {"cat <<E\nx\nE", "x"},
			"gcc":        {"gcc -O main.c -o main && ./main", "hello"},
			"go compile": {"go tool compile -p main -o main.o main.go && test -s main.o && go version | cut -c1-10", "go version"},
			"python":     {`/usr/bin/python3 -c 'import subprocess,tempfile,threading; f=tempfile.TemporaryFile(); print(subprocess.check_output(["echo","ok"]).decode())'`, "ok"},
			"node":       {`node -e 'require("child_process").execFile("echo",["ok"],(e,o)=>console.log(e||o.trim(),require("os").cpus().length>0))'`, "ok"},
			"make":       {"printf 'all:\\n\\t@echo made\\n' >Makefile && make -j2", "made"},
			"identity":   {"id -u && pwd && test -w . && echo $MURMUR_WORK", "x"},
		} {
			t.Run(name, func(t *testing.T) {
				out, end := st.run(c[0])
				assert.Equal(t, End{}, end, out)
				assert.Contains(t, out, c[1])
			})
		}
	})
}

func TestStart_ends(t *testing.T) {
	everyClass(t, func(t *testing.T, a Ask, spoil ...func(*Host)) {
		st := newStage(t, a, spoil...)
		for line, want := range map[string]End{
			"exit 0":                        {},
			"exit 3":                        {Code: 3},
			"kill -9 $$":                    {Code: 137, Signal: "SIGKILL"},
			"kill -TERM $$":                 {Code: 143, Signal: "SIGTERM"},
			"bash -c 'kill -9 $$'; exit $?": {Code: 137},
		} {
			_, end := st.run(line)
			assert.Equal(t, want, end, line)
		}
	})
}

func TestStart_fails(t *testing.T) {
	everyClass(t, func(t *testing.T, a Ask, spoil ...func(*Host)) {
		st := newStage(t, a, spoil...)
		cmd := exec.Command("/bin/no-such-program")
		cmd.Dir = st.dir
		_, err := start(st.sandbox, cmd, "missing")
		require.ErrorContains(t, err, "no such file")
		assert.True(t, st.sandbox.Receipt().Pending, "nothing has run")
		cmd = exec.Command("/bin/true")
		cmd.Dir = filepath.Join(st.dir, "gone")
		_, err = start(st.sandbox, cmd, "missing")
		require.Error(t, err, "its group is free again, its directory is not there")
		_, end := st.run("true")
		assert.Equal(t, End{}, end)
	})
}

func TestStart_pidfd(t *testing.T) {
	everyClass(t, func(t *testing.T, a Ask, spoil ...func(*Host)) {
		st := newStage(t, a, spoil...)
		pidfd := -1
		cmd := exec.Command("/bin/true")
		cmd.Dir = st.dir
		cmd.SysProcAttr = &syscall.SysProcAttr{PidFD: &pidfd}
		c, err := start(st.sandbox, cmd, "pidfd")
		require.NoError(t, err)
		require.NoError(t, pollAny([]int{pidfd}), "it tells of the end")
		require.NoError(t, unix.Close(pidfd))
		assert.Equal(t, End{}, finish(t, c))
		assert.Zero(t, cmd.SysProcAttr.Cloneflags, "the caller's attributes stay as they are")
		_, err = st.sandbox.Start("/bin/true", []string{"true"}, &syscall.ProcAttr{Dir: st.dir}, "streams")
		require.ErrorContains(t, err, "streams")
	})
}

// TestSealed_directory keeps a directory of the host from becoming the current
// one in the sealed root, whence ".." would lead out of it.
func TestSealed_directory(t *testing.T) {
	for name, spoil := range map[string]func(*Host){"ward": func(*Host) {}, "own namespaces": withoutGroups} {
		t.Run(name, func(t *testing.T) {
			st := newStage(t, Ask{Class: Sealed}, spoil)
			require.NoError(t, os.Symlink("/", filepath.Join(st.dir, "link")))
			host, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
			require.NoError(t, err)
			defer unix.Close(host)
			for _, dir := range []string{"", "/", "/proc/self/fd/" + strconv.Itoa(host), st.dir + "/..", filepath.Dir(st.dir)} {
				cmd := exec.Command("/bin/true")
				cmd.Dir = dir
				_, err := start(st.sandbox, cmd, "directory")
				require.ErrorContains(t, err, "does not lie in the workdir", dir)
			}
			cmd := exec.Command("/bin/bash", "-c", "test $(pwd -P) = / && test -d workdir && ! test -e root")
			cmd.Dir = filepath.Join(st.dir, "link")
			assert.Equal(t, End{}, runIn(t, st.sandbox, cmd, "link"), "a link leads to the sealed root, not to the host's")
		})
	}
}

func TestStart_receipt(t *testing.T) {
	everyClass(t, func(t *testing.T, a Ask, spoil ...func(*Host)) {
		st := newStage(t, a, spoil...)
		require.True(t, st.sandbox.Receipt().Pending)
		c := st.start("true", nil)
		finish(t, c)
		r := c.Receipt()
		assert.False(t, r.Pending)
		assert.Equal(t, a.Class != Advisory, r.Verified.Seccomp)
		assert.Equal(t, a.Class != Advisory, r.Verified.NoNewPrivs)
		assert.Equal(t, r, st.sandbox.Receipt())
		assert.True(t, st.sandbox.Profile().Receipt.Pending, "the plan stays a plan")
	})
}

func TestStart_concurrently(t *testing.T) {
	everyClass(t, func(t *testing.T, a Ask, spoil ...func(*Host)) {
		st := newStage(t, a, spoil...)
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				cmd := exec.Command("/bin/bash", "-c", "exit "+strconv.Itoa(i))
				cmd.Dir = st.dir
				c, err := start(st.sandbox, cmd, "concurrent-"+strconv.Itoa(i))
				if assert.NoError(t, err) {
					assert.Equal(t, i, finish(t, c).Code)
				}
			})
		}
		wg.Wait()
	})
}

func TestStart_environmentOfInit(t *testing.T) {
	st := newStage(t, Ask{Class: Sealed}, withoutGroups)
	cmd := exec.Command("/bin/sleep", "100")
	cmd.Dir = st.dir
	cmd.Env = []string{"MURMUR_WORK=mark", "TOKEN=hidden", "PATH=/bin"}
	c, err := start(st.sandbox, cmd, "init")
	require.NoError(t, err)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.PID()))
	require.NoError(t, err)
	assert.Equal(t, "MURMUR_WORK=mark\x00", string(text), "the mark finds it, and it holds nothing else")
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", c.PID()))
	require.NoError(t, err)
	assert.NotContains(t, string(args), "sleep")
	require.NoError(t, unix.Kill(c.PID(), unix.SIGKILL))
	assert.Equal(t, End{Code: 137, Signal: "SIGKILL"}, finish(t, c), "an init that was killed tells nothing more")
}

func TestSealed_signals(t *testing.T) {
	st := newStage(t, Ask{Class: Sealed}, withoutGroups)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	c := st.start(`trap 'echo told; exit 7' TERM; echo ready; while :; do sleep 0.1; done`, w)
	require.NoError(t, w.Close())
	buf := make([]byte, 64)
	n, err := r.Read(buf)
	require.NoError(t, err)
	require.Equal(t, "ready\n", string(buf[:n]))
	require.NoError(t, unix.Kill(c.PID(), unix.SIGTERM), "the init passes it on")
	assert.Equal(t, End{Code: 7}, finish(t, c))
}

// alive tells whether a process that carries the mark in its command line lives.
func alive(t *testing.T, mark string) bool {
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range entries {
		args, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.Contains(args, []byte(mark)) && !strings.HasPrefix(string(args), "/bin/bash") {
			return true
		}
	}
	return false
}

func TestSealed_takesDaemonsAlong(t *testing.T) {
	for name, spoil := range map[string]func(*Host){"ward": func(*Host) {}, "own namespaces": withoutGroups} {
		t.Run(name, func(t *testing.T) {
			st := newStage(t, Ask{Class: Sealed}, spoil)
			mark := fmt.Sprintf("86%d", os.Getpid())
			// The daemon has left the session before the command ends.
			_, end := st.run(`setsid bash -c 'touch left; exec sleep ` + mark + `' >/dev/null 2>&1 & until test -e left; do sleep 0.01; done`)
			require.Equal(t, End{}, end)
			assert.False(t, alive(t, mark))
		})
	}
}

func TestSealed_waitsForTheSession(t *testing.T) {
	st := newStage(t, Ask{Class: Sealed}, withoutGroups)
	out, end := st.run(`(sleep 0.3; echo late) & exit 5`)
	assert.Equal(t, End{Code: 5}, end)
	assert.Equal(t, "late\n", out)
}

func TestGroup_killsWhatLeftTheSession(t *testing.T) {
	if !Probe(false).Has(MechGroupKill) {
		require.NotZero(t, os.Geteuid(), "root must have control groups on the test machine")
		return
	}
	st := newStage(t, Ask{Class: Scoped})
	mark := fmt.Sprintf("87%d", os.Getpid())
	c := st.start(`setsid bash -c 'touch left; exec sleep `+mark+`' >/dev/null 2>&1 & until test -e left; do sleep 0.01; done`, nil)
	_, err := await(c.PID())
	require.NoError(t, err)
	members, err := c.Group().Members()
	require.NoError(t, err)
	require.Len(t, members, 1)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, c.Group().Await(ctx), context.Canceled, "it is alive")
	require.NoError(t, c.Group().Kill())
	ctx, cancel = context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, c.Group().Await(ctx))
	assert.False(t, alive(t, mark))
	dirs := c.Group().dirs()
	c.Finish(0, 0)
	// The kernel lets go of a group a moment after its last process.
	for _, d := range dirs {
		require.Eventually(t, func() bool { return c.Group().discard() && !exists(d) }, 10*time.Second, time.Millisecond)
	}
}

func TestGroup_nil(t *testing.T) {
	var g *Group
	require.NoError(t, g.join())
	require.NoError(t, g.add(1))
	require.False(t, g.CanKill())
	require.Error(t, g.Kill())
	require.Error(t, g.Await(t.Context()))
	members, err := g.Members()
	require.NoError(t, err)
	require.Empty(t, members)
	g.discard()
}

// forkUntilRefused starts children until the kernel refuses one, and ends when
// they have.
const forkUntilRefused = `exec /usr/bin/python3 -c '
import os
wait, go = os.pipe()
try:
    for i in range(64):
        if os.fork() == 0:
            os.close(go); os.read(wait, 1); os._exit(0)
except OSError as e:
    print("refused", e.errno, flush=True)
    os.close(go)
    try:
        while True: os.wait()
    except ChildProcessError:
        os._exit(3)
'`

func TestLimits(t *testing.T) {
	limits := Resources{
		MaxFileSizeBytes: ptr(mebi), CPUSeconds: ptr(int64(1)), MaxOpenFiles: ptr(int64(64)), MaxProcesses: ptr(int64(12)),
		CgroupMemoryBytes: ptr(64 * mebi),
	}
	h := Probe(false)
	everyClass(t, func(t *testing.T, a Ask, spoil ...func(*Host)) {
		a.Resources = limits
		st := newStage(t, a, spoil...)
		grouped := len(spoil) == 0
		out, end := st.run("ulimit -n; ulimit -Hn; ulimit -c; ulimit -f")
		assert.Equal(t, End{}, end)
		assert.Equal(t, "64\n64\n0\n1024\n", out)

		_, end = st.run("exec head -c 2M /dev/zero >big")
		assert.Equal(t, End{Code: 153, Signal: "SIGXFSZ", Limit: LimitFileSize}, end)
		info, err := os.Stat(filepath.Join(st.dir, "big"))
		require.NoError(t, err)
		assert.Equal(t, mebi, info.Size())

		_, end = st.run("while :; do :; done")
		assert.Equal(t, End{Code: 152, Signal: "SIGXCPU", Limit: LimitCPU}, end)
		if a.Class == Scoped {
			_, end = st.run("bash -c 'while :; do :; done'; exit $?")
			assert.Equal(t, End{Code: 152, Limit: LimitCPU}, end, "a child met it, and it was measured")
		}

		for name, forged := range map[string]string{"cpu": "exit 152", "cpu by signal": "kill -XCPU $$", "kill": "kill -9 $$"} {
			_, end = st.run(forged)
			assert.Empty(t, end.Limit, "%s: a cause that was not measured is unknown", name)
		}
		if grouped && h.Has(MechGroupPids) {
			_, end = st.run(forkUntilRefused)
			assert.Equal(t, LimitPids, end.Limit)
		}
		if grouped && h.Has(MechGroupMemory) {
			out, end = st.run("exec tail /dev/zero")
			assert.Equal(t, LimitMemory, end.Limit, "%v %s", end, out)
			assert.Equal(t, "SIGKILL", end.Signal)
		}
		_, end = st.run("true")
		assert.Equal(t, End{}, end, "the next command is not touched by it")
	})
}

func TestLimits_addressSpace(t *testing.T) {
	st := newStage(t, Ask{Class: Scoped, Resources: Resources{MemoryBytes: ptr(512 * mebi)}})
	out, _ := st.run(`/usr/bin/python3 -c 'x = bytearray(1<<30)'`)
	assert.Contains(t, out, "MemoryError")
	out, end := st.run(`ulimit -v`)
	assert.Equal(t, End{}, end)
	assert.Equal(t, "524288\n", out)
}

func TestWorkdirExec(t *testing.T) {
	everyClass(t, func(t *testing.T, a Ask, spoil ...func(*Host)) {
		if a.Class == Advisory {
			return
		}
		a.Filesystem.WorkdirExec = ptr(false)
		st := newStage(t, a, spoil...)
		const loader = "/lib64/ld-linux-x86-64.so.2"
		out, end := st.run("cp /bin/echo tool && ./tool ran")
		assert.Equal(t, 126, end.Code, out)
		if exists(loader) {
			out, _ = st.run(loader + " ./tool ran")
			// Under scoped no rule covers the loader's mapping; the receipt says so.
			assert.Equal(t, a.Class == Scoped, strings.Contains(out, "ran"), out)
			notes := strings.Join(st.sandbox.Receipt().Notes, " ")
			assert.Equal(t, a.Class == Scoped, strings.Contains(notes, "loader"))
		}
		out, _ = st.run(`/usr/bin/python3 -c 'import os; os.memfd_create("x")'`)
		assert.Contains(t, out, "PermissionError")
	})
}

func TestUserOfTheSession(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	const uid = 61234
	for _, class := range []Class{Scoped, Sealed} {
		for name, spoil := range map[string]func(*Host){"groups": func(*Host) {}, "no groups": withoutGroups} {
			t.Run(string(class)+" "+name, func(t *testing.T) {
				h := Probe(true)
				spoil(&h)
				dir, err := os.MkdirTemp("/tmp", "murmur-user-")
				require.NoError(t, err)
				t.Cleanup(func() { _ = os.RemoveAll(dir) })
				require.NoError(t, os.Chown(dir, uid, uid))
				p, err := Plan(Ask{Class: class, Resources: Resources{MaxProcesses: ptr(int64(6))}}, h, Facts{Workdir: dir, UID: uid})
				require.NoError(t, err)
				s, err := Open(p)
				require.NoError(t, err)
				defer func() { require.NoError(t, s.Close()) }()
				st := &stage{t: t, dir: dir, sandbox: s}
				out, end := st.run("id -u; id -G; touch mine; cat /etc/passwd >/dev/null && ulimit -u")
				assert.Equal(t, End{}, end, out)
				assert.Equal(t, "61234\n61234\n6\n", out)
				out, end = st.run(forkUntilRefused)
				assert.Equal(t, 3, end.Code)
				assert.Equal(t, "refused 11\n", out)
				info, err := os.Stat(filepath.Join(dir, "mine"))
				require.NoError(t, err)
				assert.EqualValues(t, uid, info.Sys().(*syscall.Stat_t).Uid)
			})
		}
	}
}

func TestNetwork_host(t *testing.T) {
	a := newArena(t)
	for _, class := range []Class{Scoped, Sealed} {
		s := a.open(t, Ask{Class: class, Network: NetworkHost}, Probe(true))
		for _, at := range a.attempts() {
			if strings.HasPrefix(at.name, "connect to the host by TCP") {
				assert.Equal(t, "reached", a.inside(t, s, at), "%s: the host's network is granted", class)
			}
			if at.name == "connect to a daemon's socket" || at.name == "open a packet socket" {
				assert.Contains(t, a.inside(t, s, at), "refused", "%s: a daemon is no network", class)
			}
		}
	}
}

func TestNetwork_loopbackOfTheSession(t *testing.T) {
	for _, class := range []Class{Scoped, Sealed} {
		st := newStage(t, Ask{Class: class})
		if !st.sandbox.Profile().SessionNamespaces && !st.sandbox.Profile().Ward {
			require.NotZero(t, os.Geteuid())
			continue
		}
		r, w, err := os.Pipe()
		require.NoError(t, err)
		c := st.start(`exec /usr/bin/python3 -u -c '
import socket
s = socket.create_server(("127.0.0.1", 7077)); print("up"); s.accept()[0].sendall(b"served")'`, w)
		require.NoError(t, w.Close())
		up, err := bufio.NewReader(r).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "up\n", up)
		out, _ := st.run("cat </dev/tcp/127.0.0.1/7077")
		assert.Equal(t, "served", out, "commands of a session reach one another")
		finish(t, c)
		_ = r.Close()
	}
}

func TestHook_missing(t *testing.T) {
	hooked.Store(false)
	defer hooked.Store(true)
	h := full()
	h.UID = os.Geteuid()
	p, err := Plan(Ask{Class: Sealed}, h, Facts{Workdir: t.TempDir()})
	require.NoError(t, err)
	for _, ward := range []bool{true, false} {
		p.Ward = ward
		_, err = Open(p)
		require.ErrorContains(t, err, "hook")
	}
}

func TestOpen_missingGrant(t *testing.T) {
	p, err := Plan(Ask{Class: Scoped}, Probe(false), Facts{Workdir: filepath.Join(t.TempDir(), "gone")})
	require.NoError(t, err)
	_, err = Open(p)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestProbe_leavesNothing(t *testing.T) {
	h := probe()
	again := probe()
	for _, m := range Mechanisms() {
		assert.Equal(t, h.Has(m), again.Has(m), m)
	}
	for _, dir := range []string{h.Groups.Unified, h.Groups.Pids, h.Groups.Memory} {
		if dir != "" {
			left, err := filepath.Glob(filepath.Join(dir, groupPrefix+"trial-*"))
			require.NoError(t, err)
			assert.Empty(t, left)
		}
	}
	mine := Probe(false)
	mine.Found[MechLandlock] = Finding{Why: "changed"}
	assert.Equal(t, h.Has(MechLandlock), Probe(false).Has(MechLandlock), "a caller's findings are its own")
}
