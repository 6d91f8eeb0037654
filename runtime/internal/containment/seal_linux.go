package containment

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// sealArg0 is the argument vector of a re-executed process that is to be the
// init of a sealed command.
const sealArg0 = "murmur-sealed-init"

// The descriptors of the init, besides the command's three.
const (
	sealOrderFD  = 3
	sealReportFD = 4
)

var hooked atomic.Bool

// Hook runs the part of this package that a re-executed process has, and does
// not return in one. It must be called first in main, before anything is read
// from the command line; sealed is refused in a program that does not.
func Hook() {
	hooked.Store(true)
	if len(os.Args) > 0 && os.Args[0] == sealArg0 {
		// Nothing of the embedder's is to run at this exit.
		syscall.Exit(sealedInit())
	}
}

// checkHook keeps a program without the hook from being started again as itself.
func checkHook() error {
	if !hooked.Load() {
		return errors.New("the program does not call the containment hook first in main")
	}
	return nil
}

// A sealOrder tells an init what to run; without a path, to keep the namespaces
// for threads that enter them. It comes over a pipe: what a command is
// given must not show in the arguments or the environment of its init.
type sealOrder struct {
	Profile Profile  `json:"profile"`
	Path    string   `json:"path"`
	Args    []string `json:"args"`
	Env     []string `json:"env"`
	Dir     string   `json:"dir"`
}

// A sealReport is a line that an init sends back: first whether the command
// runs, and at the end how it ended.
type sealReport struct {
	Error    string             `json:"error,omitempty"`
	Verified *Verified          `json:"verified,omitempty"`
	Ended    bool               `json:"ended,omitempty"`
	Status   syscall.WaitStatus `json:"status,omitempty"`
}

// A seal is the parent's end of a sealed command.
type seal struct {
	reports      *json.Decoder
	file, orders *os.File
}

// startSealed starts the init of a command and waits until it says that the
// command runs.
func (s *Sandbox) startSealed(f *fork, c *Command) error {
	if err := s.profile.enterable(f.attr.Dir); err != nil {
		return err
	}
	order := sealOrder{
		Profile: s.profile, Path: f.path, Args: f.argv, Env: f.attr.Env, Dir: s.profile.Inside(f.attr.Dir),
	}
	seal, r, err := startInit(f, order, c.group)
	if err != nil {
		return err
	}
	_ = seal.orders.Close()
	c.seal, c.verified = seal, r.Verified
	return nil
}

// startInit starts an init, gives it its order and waits for its first report.
func startInit(f *fork, order sealOrder, group *Group) (*seal, sealReport, error) {
	text, err := json.Marshal(order)
	if err != nil {
		return nil, sealReport{}, err
	}
	var pipes sealPipes
	if err := pipes.open(); err != nil {
		return nil, sealReport{}, err
	}
	defer pipes.closeChild()
	becomeInit(f, order.Profile, pipes)
	release, err := group.birth(f.attr.Sys)
	if err == nil {
		err = launch(f, false, group.join, func(int) error { return nil })
		release()
	}
	if err != nil {
		pipes.closeParent()
		return nil, sealReport{}, fmt.Errorf("cannot start the init: %w", err)
	}
	pipes.closeChild()
	s := &seal{reports: json.NewDecoder(bufio.NewReader(pipes.report)), file: pipes.report, orders: pipes.order}
	_, err = pipes.order.Write(text)
	r, reported := s.awaitRunning()
	if err = cmp.Or(reported, err); err != nil {
		pipes.closeParent()
		f.undo()
		return nil, sealReport{}, err
	}
	return s, r, nil
}

// becomeInit turns a fork into that of its init: this program again, in
// namespaces of its own. The init's environment has the marks of the command and
// nothing else.
func becomeInit(f *fork, p Profile, pipes sealPipes) {
	f.path, f.argv, f.attr.Dir = "/proc/self/exe", []string{sealArg0}, "/"
	f.attr.Env = slices.DeleteFunc(slices.Clone(f.attr.Env), func(v string) bool { return !strings.HasPrefix(v, "MURMUR_") })
	f.attr.Files = append(slices.Clone(f.attr.Files[:3]), pipes.orderChild.Fd(), pipes.reportChild.Fd())
	sys := f.attr.Sys
	sys.Cloneflags |= unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS
	if p.Network == NetworkNone {
		sys.Cloneflags |= unix.CLONE_NEWNET
	}
	if p.UserNamespace {
		sys.Cloneflags |= unix.CLONE_NEWUSER
		// The user keeps its number, so that files look as they are. The exec
		// would then take the capabilities that the namespace gives; ambient
		// ones it leaves.
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: unix.Geteuid(), HostID: unix.Geteuid(), Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: unix.Getegid(), HostID: unix.Getegid(), Size: 1}}
		sys.AmbientCaps = []uintptr{
			unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN, unix.CAP_KILL, unix.CAP_SYS_PTRACE, unix.CAP_DAC_OVERRIDE,
		}
	}
}

// awaitRunning reads the init's first report.
func (s *seal) awaitRunning() (sealReport, error) {
	var r sealReport
	err := s.reports.Decode(&r)
	switch {
	case errors.Is(err, io.EOF):
		return r, errors.New("the init of a sealed command ended before it had started")
	case err != nil:
		return r, fmt.Errorf("cannot read what the init of a sealed command reports: %w", err)
	case r.Error != "":
		return r, errors.New(r.Error)
	}
	return r, nil
}

// status is how the command itself ended, where its init lived to tell; else how
// the init ended.
func (s *seal) status(init syscall.WaitStatus) syscall.WaitStatus {
	if s == nil {
		return init
	}
	defer s.close()
	var r sealReport
	if err := s.reports.Decode(&r); err != nil || !r.Ended {
		return init
	}
	return r.Status
}

func (s *seal) close() { _ = s.file.Close() }

// sealPipes are the two pipes between a sandbox and an init.
type sealPipes struct {
	order, report           *os.File
	orderChild, reportChild *os.File
}

func (p *sealPipes) open() error {
	var err error
	if p.orderChild, p.order, err = os.Pipe(); err != nil {
		return err
	}
	if p.report, p.reportChild, err = os.Pipe(); err != nil {
		p.closeChild()
		p.closeParent()
	}
	return err
}

func (p *sealPipes) closeChild() { closeAll(&p.orderChild, &p.reportChild) }

func (p *sealPipes) closeParent() { closeAll(&p.order, &p.report) }

func closeAll(files ...**os.File) {
	for _, f := range files {
		if *f != nil {
			_ = (*f).Close()
			*f = nil
		}
	}
}

var probedSeal = sync.OnceValue(func() Finding {
	return finding(trySeal(), "namespaces and a root of their own, built and left",
		"run as root, or allow user namespaces (user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0, a container profile that allows unshare and mount)")
})

// trySeal runs a command in a sealed root that is like those of sessions.
func trySeal() error {
	dir, err := os.MkdirTemp("", groupPrefix+"trial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	h := probed()
	s, err := Open(Profile{
		Class: Sealed, Workdir: dir, Network: NetworkNone, Limits: DefaultLimits(),
		Grants: append(systemGrants(), Grant{Path: dir, Write: true}), LandlockABI: h.LandlockABI,
		Seccomp: true, DropCapabilities: true, UserNamespace: !h.Root(), Hold: h.Has(MechHold),
	})
	if err != nil {
		return err
	}
	defer s.Close()
	path, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	c, err := s.Start(path, []string{"true"}, &syscall.ProcAttr{Dir: dir, Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}}, "trial")
	if err != nil {
		return err
	}
	status, err := await(c.PID())
	if end := c.Finish(status, 0); err == nil && end.Code != 0 {
		err = fmt.Errorf("a trial command ended with code %d", end.Code)
	}
	return err
}

// await collects a child of this process.
func await(pid int) (syscall.WaitStatus, error) {
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(pid, &ws, 0, nil)
		if !errors.Is(err, syscall.EINTR) {
			return ws, err
		}
	}
}
