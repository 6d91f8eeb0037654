package containment

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// A restriction is what a thread puts on itself before it forks a command. Each
// part is prepared once a session.
type restriction struct {
	namespaces *namespaces
	ward       *ward
	uid        int
	dropCaps   bool
	noNewPrivs bool
	ruleset    int
	filter     []unix.SockFilter
}

// enter restricts the calling thread for good. The order is one of need: joining
// namespaces and changing the user take capabilities, no_new_privs is what the
// last two take instead of them, and the filter comes last because it refuses
// some of the calls before it.
func (r *restriction) enter() error {
	if err := r.namespaces.join(); err != nil {
		return err
	}
	if err := r.ward.join(); err != nil {
		return err
	}
	if r.dropCaps {
		if err := dropBounding(); err != nil {
			return err
		}
	}
	if r.uid > 0 {
		if err := changeUser(r.uid); err != nil {
			return err
		}
	}
	if r.noNewPrivs {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("cannot set no_new_privs: %w", err)
		}
	}
	if r.dropCaps {
		if err := dropCapabilities(); err != nil {
			return err
		}
	}
	if r.ruleset >= 0 {
		if err := restrictLandlock(r.ruleset); err != nil {
			return err
		}
	}
	if len(r.filter) > 0 {
		return restrictSeccomp(r.filter)
	}
	return nil
}

// dropBounding empties the calling thread's bounding set, so that no exec as
// uid 0 gives a capability back.
func dropBounding() error {
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && c > 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot drop capability %d from the bounding set: %w", c, err)
		}
	}
}

// dropCapabilities empties the calling thread's other sets. The ambient set
// follows the permitted one.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("cannot drop capabilities: %w", err)
	}
	return nil
}

// changeUser changes the real, effective and saved ids of the calling thread
// alone; the wrappers in package syscall would change those of every thread.
func changeUser(uid int) error {
	id := uintptr(uid)
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); e != 0 {
		return fmt.Errorf("cannot drop supplementary groups: %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, id, id, id); e != 0 {
		return fmt.Errorf("cannot change to group %d: %w", uid, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, id, id, id); e != 0 {
		return fmt.Errorf("cannot change to user %d: %w", uid, e)
	}
	return nil
}
