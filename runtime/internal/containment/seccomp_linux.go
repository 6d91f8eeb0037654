package containment

import (
	"fmt"
	"slices"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// refusedCalls are refused with EPERM whatever their arguments. They administer
// the host, reach around the other mechanisms, or open much of the kernel for
// little use in builds and tests. Ptrace and its kin are not here: debuggers and
// leak checkers need them, and Landlock keeps them inside the command's tree.
var refusedCalls = []string{
	// The view of the filesystem, and namespaces that would give it back.
	"mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig",
	"fsmount", "fspick", "mount_setattr", "unshare", "setns",
	// Handles name files without a path that a rule could match.
	"open_by_handle_at",
	// Rings do sockets and files past every filter of calls.
	"io_uring_setup", "io_uring_enter", "io_uring_register",
	// Keyrings are the user's, not the command's.
	"keyctl", "add_key", "request_key",
	// The kernel's own machinery.
	"bpf", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load", "init_module",
	"finit_module", "delete_module", "fanotify_init", "pidfd_getfd", "lookup_dcookie", "nfsservctl",
	// The host's state.
	"reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "settimeofday", "clock_settime",
	"sethostname", "setdomainname", "iopl", "ioperm", "syslog", "vhangup",
}

// namespaceFlags are the flags of clone that make a namespace.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Sockets tells which sockets a filter lets a command make.
type sockets struct {
	// internet lets IPv4, IPv6 and netlink pass.
	internet bool
	// unix lets sockets be made that can reach a path. Pairs always pass.
	unix bool
}

// newFilter assembles the filter of a profile for this architecture.
func newFilter(p Profile) ([]unix.SockFilter, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("cannot make the seccomp filter: %w", err)
	}
	list, err := refusals(info, p.WorkdirExec).Assemble()
	if err != nil {
		return nil, fmt.Errorf("cannot make the seccomp filter: %w", err)
	}
	program := append(prelude(info, profileSockets(p)), list...)
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, fmt.Errorf("cannot make the seccomp filter: %w", err)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	return filter, nil
}

// profileSockets: a path socket leads to daemons of the host, so it passes only
// where they are out of view, or where Landlock asks a right for them (ABI 9).
func profileSockets(p Profile) sockets {
	return sockets{
		internet: p.Network == NetworkHost || p.SessionNamespaces || p.Class == Sealed,
		unix:     p.Class == Sealed || p.LandlockABI >= 9,
	}
}

// refusals is the part of the filter that looks at call numbers alone.
func refusals(info *arch.Info, memfd bool) *seccomp.Policy {
	names := slices.DeleteFunc(slices.Clone(refusedCalls), func(name string) bool {
		_, known := info.SyscallNames[name]
		return !known
	})
	if !memfd {
		// A file that has no path would run past a workdir that may not execute.
		names = append(names, "memfd_create")
	}
	return &seccomp.Policy{
		DefaultAction: seccomp.ActionAllow,
		Syscalls: []seccomp.SyscallGroup{
			{Names: names, Action: errno(unix.EPERM)},
			// Its flags lie behind a pointer, where no filter can look; libraries
			// fall back to clone.
			{Names: []string{"clone3"}, Action: errno(unix.ENOSYS)},
		},
	}
}

// prelude is the part of the filter that looks at the architecture and at
// arguments. The kernel reads these arguments as 32 bits, so only the low word
// is compared: a whole-word comparison would miss a call with a dirty high word.
// The other architecture of the machine is refused as a whole, since its numbers
// mean other calls.
func prelude(info *arch.Info, s sockets) []bpf.Instruction {
	const nr, id = 0, 4
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: id, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		refuse(unix.ENOSYS),
		bpf.LoadAbsolute{Off: nr, Size: 4},
	}
	for _, check := range argumentChecks(s) {
		number, known := info.SyscallNames[check.call]
		if !known {
			continue
		}
		body := append([]bpf.Instruction{bpf.LoadAbsolute{Off: lowWord(check.arg), Size: 4}}, check.body...)
		body = append(body, bpf.LoadAbsolute{Off: nr, Size: 4})
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(number), SkipTrue: uint8(len(body))})
		program = append(program, body...)
	}
	return program
}

// An argumentCheck refuses a call by one argument. Its body starts with the
// argument's low word loaded, and falls through to let the call pass.
type argumentCheck struct {
	call string
	arg  int
	body []bpf.Instruction
}

func argumentChecks(s sockets) []argumentCheck {
	checks := []argumentCheck{
		{"clone", cloneFlagsArg, ifBits(namespaceFlags, unix.EPERM)},
		// Input pushed into a terminal is typed by nobody.
		{"ioctl", 1, ifEqual(unix.TIOCSTI, unix.EPERM)},
		{"ioctl", 1, ifEqual(unix.TIOCLINUX, unix.EPERM)},
		// The limits and the priority of other processes of the user.
		{"prlimit64", 0, unlessEqual([]uint32{0}, unix.EPERM)},
		{"setpriority", 1, unlessEqual([]uint32{0}, unix.EPERM)},
		{"socket", 0, unlessEqual(s.families(), unix.EACCES)},
		{"socketpair", 0, unlessEqual([]uint32{unix.AF_UNIX}, unix.EACCES)},
	}
	if !s.unix {
		// One end of a datagram pair can still send to any path.
		checks = append(checks, argumentCheck{"socketpair", 1, slices.Concat(
			[]bpf.Instruction{bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf}},
			ifEqual(unix.SOCK_DGRAM, unix.EACCES))})
	}
	return checks
}

// cloneFlagsArg is where clone has its flags on the architectures we filter.
const cloneFlagsArg = 0

func (s sockets) families() []uint32 {
	var list []uint32
	if s.internet {
		list = append(list, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	}
	if s.unix {
		list = append(list, unix.AF_UNIX)
	}
	return list
}

func ifEqual(value uint32, e unix.Errno) []bpf.Instruction {
	return []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: value, SkipTrue: 1}, refuse(e)}
}

func ifBits(bits uint32, e unix.Errno) []bpf.Instruction {
	return []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1}, refuse(e)}
}

func unlessEqual(values []uint32, e unix.Errno) []bpf.Instruction {
	var body []bpf.Instruction
	for i, v := range values {
		body = append(body, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - i)})
	}
	return append(body, refuse(e))
}

// lowWord is the offset of the low 32 bits of argument i in seccomp_data. Every
// architecture with a table of calls is little-endian.
func lowWord(i int) uint32 { return uint32(16 + 8*i) }

func refuse(e unix.Errno) bpf.Instruction { return bpf.RetConstant{Val: uint32(errno(e))} }

func errno(e unix.Errno) seccomp.Action { return seccomp.ActionErrno | seccomp.Action(e) }

// restrictSeccomp puts the calling thread, and all it forks, under a filter. It
// takes no_new_privs or CAP_SYS_ADMIN.
func restrictSeccomp(filter []unix.SockFilter) error {
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if e != 0 {
		return fmt.Errorf("cannot apply the seccomp filter: %w", e)
	}
	return nil
}
