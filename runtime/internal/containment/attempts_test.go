//go:build linux

package containment

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An attempt is one way to reach what is not the command's. It is a function of
// the test binary, which runs as a command: once outside, where it must succeed,
// and once under each class.
type attempt struct {
	name string
	// try returns nil if it reached what it wanted.
	try func() error
	// root says that the attempt takes root to succeed outside, user that it
	// means nothing to root.
	root, user bool
	// always says that advisory refuses it, too.
	always bool
	// errnos are refusals of the attempt's own, besides the usual ones.
	errnos []syscall.Errno
	// scoped says why scoped cannot refuse it; empty if it does.
	scoped string
	// scopedUser says why scoped cannot refuse it to an ordinary user.
	scopedUser string
}

// attempts are all of them. The counts are asserted, so that none can vanish.
func attempts() []attempt {
	list := fileAttempts()
	list = append(list, processAttempts()...)
	list = append(list, kernelAttempts()...)
	return append(list, networkAttempts()...)
}

const (
	attemptCount     = 59
	attemptRootCount = 13
)

// noMetadata is the reason for what path rules do not see.
const noMetadata = "Landlock has no right for metadata"

func fileAttempts() []attempt {
	return []attempt{
		{name: "read the state directory", try: readSecret(env("STATE"))},
		{name: "list the state directory", try: func() error { _, err := os.ReadDir(env("STATE")()); return err }},
		{name: "read another session's workdir", try: readSecret(env("OTHER"))},
		{name: "write another session's workdir", try: func() error { return create(filepath.Join(env("OTHER")(), "planted")) }},
		{name: "read ~/.ssh", try: readSecret(env("SSH"))},
		{name: "read /etc/shadow", root: true, try: func() error { _, err := os.ReadFile("/etc/shadow"); return err }},
		{name: "write beside the workdir", try: func() error { return create(filepath.Join(env("OUTSIDE")(), "planted")) }},
		{name: "write to /usr", root: true, try: func() error { return create("/usr/.murmur-planted") }},
		{name: "write to /tmp", try: func() error {
			f, err := os.OpenFile(env("HOSTTMP")(), os.O_WRONLY, 0)
			return closed(f, err)
		}},
		{name: "truncate a file outside", try: func() error { return unix.Truncate(outsideFile(), 0) }},
		{name: "remove a file outside", try: func() error { return os.Remove(filepath.Join(env("OUTSIDE")(), env("ROUND")())) }},
		{name: "rename a file into the workdir", try: func() error {
			return os.Rename(filepath.Join(env("OUTSIDE")(), env("ROUND")()+".move"), "moved")
		}},
		{name: "hard link a file into the workdir", try: func() error {
			_ = os.Remove("linked")
			return os.Link(outsideFile(), "linked")
		}},
		{name: "read through a symbolic link", try: func() error {
			_ = os.Remove("link")
			if err := os.Symlink(filepath.Join(env("STATE")(), "secret"), "link"); err != nil {
				return err
			}
			return read("link")
		}},
		{name: "read through /proc/self/root", try: func() error {
			return read("/proc/self/root" + filepath.Join(env("STATE")(), "secret"))
		}},
		{name: "read through /proc/self/cwd/..", try: func() error { return read("/proc/self/cwd/../state/secret") }},
		{name: "read through another process's root", try: func() error {
			return read("/proc/" + env("VICTIM")() + "/root" + filepath.Join(env("STATE")(), "secret"))
		}},
		{name: "make a device node", root: true, try: func() error {
			_ = os.Remove("device")
			return unix.Mknod("device", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3)))
		}},
		{name: "read host shared memory", try: func() error { return read(env("SHM")()) }},
		{name: "open a terminal", try: func() error { return closed(os.OpenFile("/dev/ptmx", os.O_RDWR, 0)) }},
		{name: "use an inherited descriptor", always: true, try: inheritedDescriptor},
		{name: "set the core pattern", root: true, try: func() error {
			return closed(os.OpenFile("/proc/sys/kernel/core_pattern", os.O_WRONLY, 0))
		}},
		{name: "set the overcommit policy", root: true, try: func() error {
			return closed(os.OpenFile("/proc/sys/vm/overcommit_memory", os.O_WRONLY, 0))
		}},
		{name: "leave the control group", try: func() error {
			return control(env("GROUP")(), "cgroup.procs", strconv.Itoa(os.Getpid()))
		}, root: true},
		{name: "change a mode outside", scoped: noMetadata, try: func() error { return os.Chmod(outsideFile(), 0o640) }},
		{name: "learn that a file exists outside", scoped: noMetadata, try: func() error { _, err := os.Stat(outsideFile()); return err }},
	}
}

func processAttempts() []attempt {
	return []attempt{
		{name: "signal a process of the user", try: func() error { return unix.Kill(victim(), unix.SIGCONT) }},
		{name: "signal the runtime", try: func() error { return unix.Kill(number("HOSTPID"), unix.SIGCONT) }},
		{name: "signal through a pidfd", try: func() error {
			fd, err := unix.PidfdOpen(victim(), 0)
			if err != nil {
				return err
			}
			return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
		}},
		{name: "trace a process", try: func() error {
			err := unix.PtraceAttach(victim())
			if err == nil {
				_, err = unix.Wait4(victim(), nil, unix.WALL, nil)
				_ = unix.PtraceDetach(victim())
			}
			return err
		}},
		{name: "read a process's memory", try: func() error { return closed(os.Open(victimFile("mem"))) }},
		{name: "read a process's memory by call", try: func() error {
			maps, err := os.ReadFile(victimFile("maps"))
			if err != nil {
				return err
			}
			start, _, _ := strings.Cut(string(maps), "-")
			address, _ := strconv.ParseUint(start, 16, 64)
			buf := make([]byte, 1)
			_, err = unix.ProcessVMReadv(victim(), []unix.Iovec{{Base: &buf[0], Len: 1}},
				[]unix.RemoteIovec{{Base: uintptr(address), Len: 1}}, 0)
			return err
		}},
		{name: "read a process's environment", try: func() error { return read(victimFile("environ")) }},
		{name: "look at a process's descriptors", try: func() error { _, err := os.Readlink(victimFile("fd/0")); return err }},
		{name: "take a process's descriptor", try: func() error {
			fd, err := unix.PidfdOpen(victim(), 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, 0, 0)
			return err
		}},
		{name: "lower a process's limits", try: func() error {
			limit := unix.Rlimit{Cur: 512, Max: 4096}
			return unix.Prlimit(victim(), unix.RLIMIT_NOFILE, &limit, nil)
		}},
		{name: "lower a process's priority", try: func() error { return unix.Setpriority(unix.PRIO_PROCESS, victim(), 19) }},
		{name: "pin a process to a processor", scopedUser: "thread libraries set affinity by thread id, which a filter cannot tell from another process's", try: func() error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(victim(), &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(victim(), &set)
		}},
		{name: "read a process's command line", scoped: "/proc can be granted as a whole or not at all", try: func() error {
			text, err := os.ReadFile(victimFile("cmdline"))
			if err == nil && len(text) == 0 {
				return unix.ENOENT
			}
			return err
		}},
		{name: "gain root by a setuid program", user: true, try: gainRoot},
	}
}

func kernelAttempts() []attempt {
	return []attempt{
		{name: "mount", root: true, try: func() error {
			if err := unix.Mount("none", ".", "tmpfs", 0, "size=4k"); err != nil {
				return err
			}
			return unix.Unmount(".", unix.MNT_DETACH)
		}},
		{name: "change the root", root: true, try: func() error { return unix.Chroot(".") }},
		{name: "make a user namespace", try: forkWith(syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER})},
		{name: "make a user namespace by clone", try: forkWith(syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER})},
		{name: "join the host's namespace", root: true, try: func() error {
			f, err := os.Open("/proc/" + env("VICTIM")() + "/ns/uts")
			if err != nil {
				return err
			}
			return unix.Setns(int(f.Fd()), unix.CLONE_NEWUTS)
		}},
		{name: "set up io_uring", try: func() error {
			var params [120]byte
			return raw(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
		}},
		{name: "add a key to the user's ring", try: func() error {
			_, err := unix.AddKey("user", "murmur-test", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			return err
		}},
		{name: "load a program into the kernel", root: true, try: func() error {
			var attr [128]byte
			attr[0], attr[4], attr[8], attr[12] = 2, 4, 4, 1 // an array map of one entry
			return raw(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), 48)
		}},
		{name: "type into a terminal", root: true, try: func() error { return typeInto(unix.TIOCSTI) }},
		{name: "type into a terminal with a dirty word", root: true, try: func() error { return typeInto(unix.TIOCSTI | 1<<32) }},
	}
}

func networkAttempts() []attempt {
	return []attempt{
		{name: "connect to the host by TCP", try: func() error { return echo("tcp", env("TCP")()) }},
		{name: "send to the host by UDP", try: func() error { return echo("udp", env("UDP")()) }},
		{name: "connect with a dirty family", try: dirtyConnect},
		{name: "open a socket through the 32-bit calls", try: connect32},
		{name: "open a packet socket", root: true, try: func() error {
			fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		}},
		{name: "connect to a daemon's socket", try: func() error { return echo("unix", env("SOCKET")()) }},
		{name: "connect to an abstract socket", try: func() error { return echo("unix", env("ABSTRACT")()) }},
		{name: "send to a daemon from a socket pair", try: sendFromPair},
		{name: "attach System V shared memory", errnos: []syscall.Errno{unix.EINVAL}, scopedUser: "an IPC namespace takes root", try: func() error {
			_, err := unix.SysvShmAttach(number("SHMID"), 0, unix.SHM_RDONLY)
			return err
		}},
	}
}

// env gives a value that the test passes to its commands.
func env(name string) func() string { return func() string { return os.Getenv("ESCAPE_" + name) } }

func number(name string) int {
	n, _ := strconv.Atoi(env(name)())
	return n
}

func victim() int { return number("VICTIM") }

func victimFile(name string) string { return "/proc/" + env("VICTIM")() + "/" + name }

func outsideFile() string { return filepath.Join(env("OUTSIDE")(), "file") }

func read(path string) error {
	text, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(text), "secret") {
		return fmt.Errorf("%s holds something else", path)
	}
	return err
}

func readSecret(dir func() string) func() error {
	return func() error { return read(filepath.Join(dir(), "secret")) }
}

func create(path string) error {
	err := os.WriteFile(path, []byte("planted"), 0o600)
	if err == nil {
		err = os.Remove(path)
	}
	return err
}

func closed(f *os.File, err error) error {
	if err == nil {
		err = f.Close()
	}
	return err
}

func raw(call, a, b, c uintptr) error {
	if _, _, e := unix.Syscall(call, a, b, c); e != 0 {
		return e
	}
	return nil
}

// inheritedDescriptor looks for the secret behind any descriptor but the three.
func inheritedDescriptor() error {
	for fd := 3; fd < 256; fd++ {
		buf := make([]byte, 64)
		n, err := unix.Pread(fd, buf, 0)
		if err == nil && strings.Contains(string(buf[:n]), "secret") {
			return nil
		}
	}
	return unix.ENOENT
}

func gainRoot() error {
	out, err := exec.Command(env("SETUID")(), "euid").Output()
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(out)) != "euid 0" {
		return unix.EPERM
	}
	return nil
}

// forkWith starts a program in a way that makes a namespace.
func forkWith(attr syscall.SysProcAttr) func() error {
	return func() error {
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &attr
		return cmd.Run()
	}
}

func typeInto(request uintptr) error {
	char := byte('x')
	return raw(unix.SYS_IOCTL, 0, request, uintptr(unsafe.Pointer(&char)))
}

// echo sends a word and wants it back. Nobody answers where nobody listens.
func echo(network, address string) error {
	conn, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write([]byte("ping")); err != nil {
		return err
	}
	buf := make([]byte, 4)
	if _, err := io.ReadFull(conn, buf); err != nil {
		return err
	}
	return nil
}

// dirtyConnect asks for a family whose high word is not zero; the kernel does
// not look at it, and a careless filter does.
func dirtyConnect() error {
	fd, _, e := unix.Syscall(unix.SYS_SOCKET, unix.AF_INET|1<<32, unix.SOCK_STREAM, 0)
	if e != 0 {
		return e
	}
	return connectHost(int(fd))
}

func connectHost(fd int) error {
	host, port, err := net.SplitHostPort(env("TCP")())
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(port)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: n, Addr: [4]byte(net.ParseIP(host).To4())})
}

// sendFromPair uses one end of a datagram pair to reach a daemon by its path.
func sendFromPair() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(pair[0], []byte("ping"), 0, &unix.SockaddrUnix{Name: env("DATAGRAM")()})
}

// runAttempt is the whole life of a command of the suite: it tries, and says
// what came of it on standard output.
func runAttempt(name string) int {
	for _, a := range attempts() {
		if a.name != name {
			continue
		}
		err := a.try()
		var e syscall.Errno
		switch {
		case err == nil:
			fmt.Println("verdict reached")
		case errors.As(err, &e):
			fmt.Println("verdict refused", int(e))
		default:
			fmt.Println("verdict unclear", err)
		}
		return 0
	}
	fmt.Println("verdict unclear: no such attempt")
	return 0
}
