package containment

import (
	"encoding/binary"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

func TestHierarchies(t *testing.T) {
	const hybrid = `24 1 0:20 / /proc rw - proc proc rw
30 29 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
31 29 0:27 / /sys/fs/cgroup/cpu\040acct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
32 29 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate
`
	for name, c := range map[string]struct {
		membership, mounts string
		want               []hierarchy
	}{
		"hybrid": {"4:memory:/a/b\n2:cpu,cpuacct:/\n0::/x\n", hybrid, []hierarchy{
			{"/sys/fs/cgroup/memory/a/b", []string{"memory"}},
			{"/sys/fs/cgroup/cpu acct", []string{"cpu", "cpuacct"}},
			{"/sys/fs/cgroup/unified/x", []string{}},
		}},
		"a part is mounted": {"0::/docker/1/app\n", "1 1 0:1 /docker/1 /cg rw - cgroup2 none rw\n",
			[]hierarchy{{"/cg/app", []string{}}}},
		"the part itself":    {"0::/docker/1\n", "1 1 0:1 /docker/1 /cg rw - cgroup2 none rw\n", []hierarchy{{"/cg", []string{}}}},
		"outside the part":   {"0::/docker/12\n", "1 1 0:1 /docker/1 /cg rw - cgroup2 none rw\n", nil},
		"not mounted":        {"7:pids:/\n", hybrid, nil},
		"nonsense":           {"\n:\nx\n0::\n", "a - b\n- - -\n\n", nil},
		"a memory lookalike": {"4:mem:/\n", hybrid, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, hierarchies(c.membership, c.mounts)) })
	}
}

func FuzzHierarchies(f *testing.F) {
	f.Add("0::/a\n", "1 1 0:1 / /cg rw - cgroup2 none rw\n")
	f.Add("4:memory:/\\040", "1 1 0:1 /\\13 /\\777\\0 rw - cgroup c rw,memory\n")
	f.Fuzz(func(t *testing.T, membership, mounts string) {
		for _, h := range hierarchies(membership, mounts) {
			require.NotEmpty(t, h.dir)
		}
	})
}

func TestParseStat(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		state   string
		session int
		ok      bool
	}{
		"plain":              {"7 (bash) S 1 7 70 0 -1", "S", 70, true},
		"hostile name":       {"7 (a) R 1 (b) Z 1 7 71 0", "Z", 71, true},
		"a name of newlines": {"7 (\n) \n) X 1 7 72 0", "X", 72, true},
		"cut":                {"7 (bash) S 1", "", 0, false},
		"empty":              {"", "", 0, false},
		"no number":          {"7 (x) S 1 7 y 0", "S", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			state, session, ok := parseStat(c.text)
			assert.Equal(t, c.ok, ok)
			assert.Equal(t, c.state, state)
			assert.Equal(t, c.session, session)
		})
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("7 (a) R 1 (b) Z 1 7 71 0")
	f.Fuzz(func(t *testing.T, text string) { _, _, _ = parseStat(text) })
}

func TestParseStatus(t *testing.T) {
	v := parseStatus([]byte("Name:\tSeccomp:\t2\nUid:\t61000\t61000\t61000\t61000\nCapEff:\t0000000000000000\nCapBnd:\t00ff\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n"))
	assert.Equal(t, &Verified{NoNewPrivs: true, Seccomp: true, Capabilities: "0000000000000000", Bounding: "00ff", UID: 61000}, v)

	p := Profile{Seccomp: true, DropCapabilities: true, UID: 61000}
	require.NoError(t, v.verify(p))
	for _, spoil := range []func(*Verified){
		func(v *Verified) { v.NoNewPrivs = false },
		func(v *Verified) { v.Seccomp = false },
		func(v *Verified) { v.Capabilities = "0000000000000400" },
		func(v *Verified) { v.UID = 0 },
	} {
		worse := *v
		spoil(&worse)
		require.ErrorContains(t, worse.verify(p), "internal error")
	}
	require.NoError(t, (&Verified{Capabilities: "ff"}).verify(Profile{}), "advisory promises nothing")
}

// TestFilter runs the filter as the kernel does, over calls that this machine
// need not have.
func TestFilter(t *testing.T) {
	info, err := arch.GetInfo("")
	require.NoError(t, err)
	none := Profile{Class: Scoped, LandlockABI: 7, Network: NetworkNone, WorkdirExec: true}
	host, namespaced, sealed, noexec, newer := none, none, none, none, none
	host.Network = NetworkHost
	namespaced.SessionNamespaces = true
	sealed.Class = Sealed
	noexec.WorkdirExec = false
	newer.LandlockABI = 9
	const allow, perm, access, nosys = 0, unix.EPERM, unix.EACCES, unix.ENOSYS
	for name, c := range map[string]struct {
		profile Profile
		call    string
		args    []uint64
		want    unix.Errno
	}{
		"read":                        {none, "read", nil, allow},
		"ptrace":                      {none, "ptrace", nil, allow},
		"mount":                       {none, "mount", nil, perm},
		"unshare":                     {none, "unshare", []uint64{0}, perm},
		"clone3":                      {none, "clone3", nil, nosys},
		"fork":                        {none, "clone", []uint64{unix.CLONE_VM | unix.CLONE_VFORK | 17}, allow},
		"a thread":                    {none, "clone", []uint64{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SETTLS}, allow},
		"clone into a user namespace": {none, "clone", []uint64{unix.CLONE_NEWUSER | 17}, perm},
		"the same with a dirty word":  {none, "clone", []uint64{1<<40 | unix.CLONE_NEWUSER}, perm},
		"memfd":                       {none, "memfd_create", nil, allow},
		"memfd without exec":          {noexec, "memfd_create", nil, perm},
		"TIOCSTI":                     {none, "ioctl", []uint64{0, unix.TIOCSTI}, perm},
		"TIOCSTI dirty":               {none, "ioctl", []uint64{0, 1<<32 | unix.TIOCSTI}, perm},
		"TIOCLINUX":                   {none, "ioctl", []uint64{0, unix.TIOCLINUX}, perm},
		"TCGETS":                      {none, "ioctl", []uint64{0, unix.TCGETS}, allow},
		"own limits":                  {none, "prlimit64", []uint64{0, 7}, allow},
		"another's limits":            {none, "prlimit64", []uint64{77, 7}, perm},
		"own priority":                {none, "setpriority", []uint64{0, 0, 19}, allow},
		"another's priority":          {none, "setpriority", []uint64{0, 77, 19}, perm},
		"a pair":                      {none, "socketpair", []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allow},
		"a datagram pair":             {none, "socketpair", []uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, access},
		"a datagram pair, sealed":     {sealed, "socketpair", []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, allow},
		"a pair of another family":    {sealed, "socketpair", []uint64{unix.AF_TIPC}, access},
		"IPv4":                        {none, "socket", []uint64{unix.AF_INET}, access},
		"IPv4 dirty":                  {none, "socket", []uint64{1<<32 | unix.AF_INET}, access},
		"IPv4 of the host":            {host, "socket", []uint64{unix.AF_INET}, allow},
		"IPv6 in a namespace":         {namespaced, "socket", []uint64{unix.AF_INET6}, allow},
		"unix":                        {host, "socket", []uint64{unix.AF_UNIX}, access},
		"unix, sealed":                {sealed, "socket", []uint64{unix.AF_UNIX}, allow},
		"unix, with rules for it":     {newer, "socket", []uint64{unix.AF_UNIX}, allow},
		"packet":                      {host, "socket", []uint64{unix.AF_PACKET}, access},
		"vsock":                       {host, "socket", []uint64{unix.AF_VSOCK}, access},
		"kernel crypto":               {host, "socket", []uint64{unix.AF_ALG}, access},
	} {
		t.Run(name, func(t *testing.T) {
			number, known := info.SyscallNames[c.call]
			require.True(t, known)
			assert.Equal(t, verdictOf(c.want), simulate(t, c.profile, uint32(info.ID), uint32(number), c.args))
		})
	}
	number := uint32(info.SyscallNames["read"])
	assert.Equal(t, verdictOf(nosys), simulate(t, none, uint32(arch.I386.ID), number, nil), "another architecture's numbers")
	if info.ID == arch.X86_64.ID {
		assert.Equal(t, verdictOf(nosys), simulate(t, none, uint32(info.ID), number|1<<30, nil), "the x32 numbers")
	}
}

func verdictOf(e unix.Errno) uint32 {
	if e == 0 {
		return unix.SECCOMP_RET_ALLOW
	}
	return unix.SECCOMP_RET_ERRNO | uint32(e)
}

// simulate runs the filter over one call. The simulator reads words big-endian,
// so that the data is laid out by words of that order.
func simulate(t *testing.T, p Profile, id, number uint32, args []uint64) uint32 {
	filter, err := newFilter(p)
	require.NoError(t, err)
	program := make([]bpf.Instruction, len(filter))
	for i, f := range filter {
		program[i] = bpf.RawInstruction{Op: f.Code, Jt: f.Jt, Jf: f.Jf, K: f.K}.Disassemble()
	}
	vm, err := bpf.NewVM(program)
	require.NoError(t, err)
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], number)
	binary.BigEndian.PutUint32(data[4:], id)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	got, err := vm.Run(data)
	require.NoError(t, err)
	return uint32(got)
}
