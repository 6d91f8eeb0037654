//go:build linux

package containment

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// refusals are the errors that say no. Any other is inconclusive.
var refused = []syscall.Errno{
	unix.EPERM, unix.EACCES, unix.ENOENT, unix.ESRCH, unix.EROFS, unix.ENOSYS, unix.EXDEV,
	unix.ECONNREFUSED, unix.ENETUNREACH, unix.EAFNOSUPPORT,
}

// TestEscape makes every attempt outside, where it must succeed, and under each
// class that this host can give, where it must be refused, or reach what the
// suite says cannot be refused.
func TestEscape(t *testing.T) {
	a := newArena(t)
	host := Probe(true)
	t.Log(live(host))
	report := &table{}
	tried := 0
	for _, at := range a.attempts() {
		tried++
		control := a.outside(t, at)
		assert.Equal(t, "reached", control, "the control of %q must succeed outside", at.name)
		report.row(at.name, control)
	}
	for _, class := range classesOf(t, host) {
		s := a.open(t, Ask{Class: class}, host)
		for _, at := range a.attempts() {
			got := a.inside(t, s, at)
			judge(t, at, class, got)
			report.row(at.name, got)
		}
	}
	t.Log("\n" + report.String())
	assert.Equal(t, wantTried(a), tried, "attempts that were made")
	assert.Len(t, attempts(), attemptCount)
}

// TestEscapeAsOrdinaryUser runs the suite again as a user without powers.
func TestEscapeAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("this user is an ordinary one: TestEscape was the test")
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "murmur-escape-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	self := filepath.Join(dir, "suite")
	setuid := filepath.Join(dir, "setuid")
	copyExecutable(t, self, 0o755)
	copyExecutable(t, setuid, 0o755|os.ModeSetuid)
	tmp := filepath.Join(dir, "tmp")
	require.NoError(t, os.Mkdir(tmp, 0o755))
	require.NoError(t, os.Chown(tmp, nobody, nobody))

	cmd := exec.Command(self, "-test.run=^TestEscape$", "-test.v")
	cmd.Dir = tmp
	cmd.Env = []string{"TMPDIR=" + tmp, "HOME=" + tmp, "PATH=" + os.Getenv("PATH"), "ESCAPE_SETUID=" + setuid}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	t.Logf("as user %d:\n%s", nobody, out)
	require.NoError(t, err)
	require.Contains(t, string(out), "--- PASS: TestEscape")
}

// TestEscapeOwnNamespaces makes the attempts under sealed where the host has no
// control groups, so that each command has namespaces of its own.
func TestEscapeOwnNamespaces(t *testing.T) {
	host := Probe(true)
	if host.Best() != Sealed {
		require.NotEmpty(t, os.Getenv("MURMUR_CONTAINMENT_AT_MOST"))
		return
	}
	host.Groups = Groups{}
	host.Found[MechGroupKill] = Finding{}
	a := newArena(t)
	s := a.open(t, Ask{Class: Sealed}, host)
	require.False(t, s.Profile().Ward)
	for _, at := range a.attempts() {
		judge(t, at, Sealed, a.inside(t, s, at))
	}
}

// attempts are those that this user can make.
func (a *arena) attempts() []attempt {
	return slices.DeleteFunc(attempts(), func(at attempt) bool {
		return at.root && os.Geteuid() != 0 || at.user && a.env["SETUID"] == ""
	})
}

func wantTried(a *arena) int {
	n := attemptCount
	if os.Geteuid() != 0 {
		n -= attemptRootCount
	}
	if a.env["SETUID"] == "" {
		n--
	}
	return n
}

// classesOf are the classes of this host. A host that gives less than all has to
// be named by MURMUR_CONTAINMENT_AT_MOST, so that nothing is lost unseen.
func classesOf(t *testing.T, h Host) []Class {
	all := []Class{Advisory, Scoped, Sealed}
	most := Class(os.Getenv("MURMUR_CONTAINMENT_AT_MOST"))
	if most == "" {
		most = Sealed
	}
	got := all[:slices.Index(all, h.Best())+1]
	require.Equal(t, most, h.Best(), "this host gives class %s at most; if that is right, say so by MURMUR_CONTAINMENT_AT_MOST", h.Best())
	return got
}

// judge compares what came of an attempt with what the class promises.
func judge(t *testing.T, at attempt, class Class, got string) {
	reason := cannotRefuse(at, class)
	if reason != "" {
		assert.Equal(t, "reached", got, "%s under %s is no longer let through; it was, because %s", at.name, class, reason)
		return
	}
	var e int
	if _, err := fmt.Sscanf(got, "refused %d", &e); err != nil {
		assert.Fail(t, "escape, or inconclusive", "%s under %s: %s", at.name, class, got)
		return
	}
	allowed := append(slices.Clone(refused), at.errnos...)
	assert.Contains(t, allowed, syscall.Errno(e), "%s under %s: inconclusive", at.name, class)
}

func cannotRefuse(at attempt, class Class) string {
	switch {
	case class == Advisory && at.always:
		return ""
	case class == Advisory:
		return "advisory promises nothing"
	case class == Scoped && at.scoped != "":
		return at.scoped
	case class == Scoped && os.Geteuid() != 0:
		return at.scopedUser
	}
	return ""
}

// An arena is a host in small: what a command must not reach, and the means to
// try.
type arena struct {
	env               map[string]string
	dir, work, beyond string
	self              string
	rounds            int
	terminal          *os.File
}

func newArena(t *testing.T) *arena {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	a := &arena{dir: dir, self: self, work: filepath.Join(dir, "work"), beyond: filepath.Join(dir, "outside"), env: map[string]string{}}
	for name, sub := range map[string]string{"STATE": "state", "OTHER": "other", "SSH": "home/.ssh", "OUTSIDE": "outside"} {
		a.env[name] = filepath.Join(dir, sub)
		require.NoError(t, os.MkdirAll(a.env[name], 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(a.env[name], "secret"), []byte("secret"), 0o600))
	}
	require.NoError(t, os.Mkdir(a.work, 0o755))
	a.env["SETUID"] = os.Getenv("ESCAPE_SETUID")
	a.env["HOSTPID"] = strconv.Itoa(os.Getpid())
	groups := Probe(false).Groups
	a.env["GROUP"] = cmp.Or(groups.Pids, groups.Unified, "/sys/fs/cgroup")
	a.makeFiles(t)
	a.makeVictim(t)
	a.makeListeners(t)
	a.terminal = openTerminal(t)
	return a
}

func (a *arena) makeFiles(t *testing.T) {
	for name, dir := range map[string]string{"HOSTTMP": "/tmp", "SHM": "/dev/shm"} {
		f, err := os.CreateTemp(dir, "murmur-escape-")
		require.NoError(t, err)
		_, err = f.WriteString("secret")
		require.NoError(t, err)
		require.NoError(t, f.Close())
		t.Cleanup(func() { _ = os.Remove(f.Name()) })
		a.env[name] = f.Name()
	}
	id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	a.env["SHMID"] = strconv.Itoa(id)
}

// makeVictim starts a process of the same user, with a secret in its environment.
func (a *arena) makeVictim(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.Env = []string{"TOKEN=secret"}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	a.env["VICTIM"] = strconv.Itoa(cmd.Process.Pid)
}

// makeListeners starts servers that answer what they hear.
func (a *arena) makeListeners(t *testing.T) {
	abstract := fmt.Sprintf("@murmur-escape-%d", os.Getpid())
	for name, address := range map[string][2]string{
		"TCP": {"tcp", "127.0.0.1:0"}, "SOCKET": {"unix", filepath.Join(a.dir, "daemon")}, "ABSTRACT": {"unix", abstract},
	} {
		l, err := net.Listen(address[0], address[1])
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		a.env[name] = l.Addr().String()
		go answer(l)
	}
	for name, address := range map[string][2]string{"UDP": {"udp", "127.0.0.1:0"}, "DATAGRAM": {"unixgram", filepath.Join(a.dir, "dgram")}} {
		l, err := net.ListenPacket(address[0], address[1])
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		a.env[name] = l.LocalAddr().String()
		go answerPackets(l)
	}
}

func answer(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		buf := make([]byte, 4)
		_, _ = conn.Read(buf)
		_, _ = conn.Write(buf)
		_ = conn.Close()
	}
}

func answerPackets(l net.PacketConn) {
	for buf := make([]byte, 4); ; {
		_, from, err := l.ReadFrom(buf)
		if err != nil {
			return
		}
		if from != nil && from.String() != "" {
			_, _ = l.WriteTo(buf, from)
		}
	}
}

// openTerminal gives the far side of a new pseudo terminal.
func openTerminal(t *testing.T) *os.File {
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(near.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(near.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	far, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = far.Close(); _ = near.Close() })
	return far
}

func (a *arena) open(t *testing.T, ask Ask, h Host) *Sandbox {
	facts := Facts{Workdir: a.work, Hidden: []string{a.env["STATE"]}}
	ask.Filesystem.Read = append(ask.Filesystem.Read, a.self)
	if a.env["SETUID"] != "" {
		ask.Filesystem.Read = append(ask.Filesystem.Read, a.env["SETUID"])
	}
	p, err := Plan(ask, h, facts)
	require.NoError(t, err)
	s, err := Open(p)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// command is a fresh attempt, with fresh things to attempt on.
func (a *arena) command(t *testing.T, at attempt) (*exec.Cmd, func() string) {
	a.rounds++
	round := "round" + strconv.Itoa(a.rounds)
	for _, name := range []string{round, round + ".move", "file"} {
		require.NoError(t, os.WriteFile(filepath.Join(a.beyond, name), []byte("secret"), 0o644))
	}
	cmd := exec.Command(a.self, at.name)
	cmd.Args[0] = attemptArg0
	cmd.Dir = a.work
	cmd.Stdin = a.terminal
	cmd.Env = []string{"ESCAPE_ROUND=" + round, "TMPDIR=" + a.work}
	for k, v := range a.env {
		cmd.Env = append(cmd.Env, "ESCAPE_"+k+"="+v)
	}
	out, err := os.Create(filepath.Join(a.dir, "output"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, func() string {
		require.NoError(t, out.Close())
		text, err := os.ReadFile(out.Name())
		require.NoError(t, err)
		return string(text)
	}
}

// outside makes an attempt without containment.
func (a *arena) outside(t *testing.T, at attempt) string {
	cmd, read := a.command(t, at)
	defer a.leak(t)()
	require.NoError(t, cmd.Run(), at.name)
	return verdict(read())
}

// inside makes an attempt in a sandbox.
func (a *arena) inside(t *testing.T, s *Sandbox, at attempt) string {
	cmd, read := a.command(t, at)
	defer a.leak(t)()
	end := runIn(t, s, cmd, "escape-"+strconv.Itoa(a.rounds))
	if end.Code != 0 {
		return fmt.Sprintf("unclear: exit %d: %s", end.Code, read())
	}
	return verdict(read())
}

// leak opens a secret by a descriptor that is not close-on-exec, as one that a
// process inherits.
func (a *arena) leak(t *testing.T) func() {
	fd, err := unix.Open(filepath.Join(a.env["STATE"], "secret"), unix.O_RDONLY, 0)
	require.NoError(t, err)
	return func() { _ = unix.Close(fd) }
}

func verdict(out string) string {
	for line := range strings.Lines(out) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "verdict "); ok {
			return v
		}
	}
	return "unclear: no verdict: " + out
}

func copyExecutable(t *testing.T, to string, mode os.FileMode) {
	text, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o755))
	require.NoError(t, os.Chmod(to, mode))
}

// live says which mechanisms this run had.
func live(h Host) string {
	var b strings.Builder
	fmt.Fprintf(&b, "user %d, %d of %d mechanisms live:", h.UID, countLive(h), len(Mechanisms()))
	for _, m := range Mechanisms() {
		f := h.Found[m]
		fmt.Fprintf(&b, "\n  %-20s %-5t %s%s", m, f.OK, f.Detail, f.Why)
	}
	return b.String()
}

func countLive(h Host) int {
	n := 0
	for _, m := range Mechanisms() {
		if h.Has(m) {
			n++
		}
	}
	return n
}

// A table collects what came of each attempt, one column a class.
type table struct {
	names []string
	cells map[string][]string
}

func (r *table) row(name, got string) {
	if r.cells == nil {
		r.cells = map[string][]string{}
	}
	if _, ok := r.cells[name]; !ok {
		r.names = append(r.names, name)
	}
	var e int
	if _, err := fmt.Sscanf(got, "refused %d", &e); err == nil {
		got = unix.ErrnoName(syscall.Errno(e))
	}
	r.cells[name] = append(r.cells[name], got)
}

func (r *table) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "attempt\toutside\tadvisory\tscoped\tsealed")
	for _, n := range r.names {
		fmt.Fprintln(w, n+"\t"+strings.Join(r.cells[n], "\t"))
	}
	_ = w.Flush()
	return b.String()
}
