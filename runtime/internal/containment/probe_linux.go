package containment

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Probe finds out by trying what this host can enforce for this user. It tries
// once per process and remembers. The trial of a sealed root takes a hook in
// main and a few milliseconds; it is made only if sealed is set. A process that
// reaps every child must not probe: it could take the end of a trial.
func Probe(sealed bool) Host {
	h := probed()
	if sealed {
		h.Found[MechSealedRoot] = probedSeal()
	}
	return h
}

var probedOnce = sync.OnceValue(probe)

// probed gives each caller findings of its own.
func probed() Host {
	h := probedOnce()
	found := make(map[Mechanism]Finding, len(h.Found))
	for m, f := range h.Found {
		found[m] = f
	}
	h.Found = found
	return h
}

func probe() Host {
	h := Host{OS: runtime.GOOS, UID: unix.Geteuid()}
	groups, found := probeGroups()
	h.Groups, h.Found = groups, found
	h.LandlockABI, h.Found[MechLandlock] = probeLandlock()
	h.Found[MechSeccomp] = probeSeccomp()
	h.Found[MechCapabilities] = probeCapabilities()
	h.Found[MechHold] = probeHold()
	h.Found[MechSessionNamespaces] = probeSessionNamespaces()
	h.Found[MechSealedRoot] = Finding{Why: "it has not been tried"}
	return h
}

func finding(err error, detail, remedy string) Finding {
	if err != nil {
		return Finding{Why: err.Error(), Remedy: remedy}
	}
	return Finding{OK: true, Detail: detail}
}

const landlockRemedy = "run Linux 6.2 or later with landlock among its security modules (lsm=landlock,...)"

// probeLandlock puts a thread under a ruleset that grants nothing and sees it
// refused.
func probeLandlock() (int, Finding) {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0, finding(fmt.Errorf("the kernel has no Landlock: %w", err), "", landlockRemedy)
	}
	if abi < minLandlock {
		return 0, finding(fmt.Errorf("ABI %d cannot refuse truncation; %d is needed", abi, minLandlock), "", landlockRemedy)
	}
	err = onThread(func() error {
		config := landlockConfig(abi, false)
		fd, _, err := config.NewRulesetFD()
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		if err := restrictLandlock(fd); err != nil {
			return err
		}
		opened, err := unix.Open("/", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(opened)
			return errors.New("a ruleset that grants nothing let the root be opened")
		}
		return nil
	})
	if err != nil {
		return 0, finding(err, "", landlockRemedy)
	}
	return abi, finding(nil, fmt.Sprintf("ABI %d", abi), "")
}

// probeSeccomp puts a thread under the filter and sees a call refused.
func probeSeccomp() Finding {
	err := onThread(func() error {
		filter, err := newFilter(Profile{Class: Scoped, Network: NetworkNone})
		if err != nil {
			return err
		}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return err
		}
		if err := restrictSeccomp(filter); err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			_ = unix.Close(fd)
			return errors.New("a filter that refuses sockets let one be made")
		}
		return nil
	})
	return finding(err, runtime.GOARCH, "run a kernel with CONFIG_SECCOMP_FILTER on amd64 or arm64")
}

// probeCapabilities empties a thread's capability sets.
func probeCapabilities() Finding {
	if unix.Geteuid() != 0 {
		return finding(nil, "not root: there are none to drop", "")
	}
	err := onThread(func() error {
		if err := dropBounding(); err != nil {
			return err
		}
		return dropCapabilities()
	})
	return finding(err, "every set is emptied", "leave CAP_SETPCAP to the program, or run it as an ordinary user")
}

// probeHold starts a command held at its exec.
func probeHold() Finding {
	path, err := exec.LookPath("true")
	if err == nil {
		f := fork{path: path, argv: []string{"true"}, attr: syscall.ProcAttr{Sys: &syscall.SysProcAttr{}}}
		err = launch(&f, true, func() error { return nil }, func(int) error { return nil })
		if err == nil {
			_, err = await(f.pid)
		}
	}
	return finding(err, "rlimits are set before the first instruction", "allow ptrace of own children (kernel.yama.ptrace_scope below 3)")
}

func probeSessionNamespaces() Finding {
	ns, err := newNamespaces()
	ns.close()
	return finding(err, "network and IPC", "run as root with CAP_SYS_ADMIN, or ask for class sealed; seccomp refuses sockets instead")
}
