package containment

import (
	"fmt"
	"os/exec"

	"golang.org/x/sys/unix"
)

// enforcer is what a sandbox holds open on Linux.
type enforcer struct {
	restriction restriction
}

// running is what a command holds open on Linux.
type running struct {
	group *Group
	seal  *seal
}

func (e *enforcer) open(p Profile) error {
	e.restriction = restriction{ruleset: -1}
	if p.Class == Advisory {
		return nil
	}
	if p.Class == Sealed {
		return checkHook()
	}
	return e.restriction.prepare(p)
}

// prepare makes the parts of a restriction that commands share.
func (r *restriction) prepare(p Profile) error {
	*r = restriction{ruleset: -1, uid: p.UID, dropCaps: p.DropCapabilities, noNewPrivs: true}
	var err error
	if p.SessionNamespaces {
		if r.namespaces, err = newNamespaces(); err != nil {
			return err
		}
	}
	if p.LandlockABI > 0 {
		if r.ruleset, err = newRuleset(p); err != nil {
			return err
		}
	}
	if p.Seccomp {
		r.filter, err = newFilter(p)
	}
	return err
}

// Close releases what the sandbox holds. It ends no command.
func (s *Sandbox) Close() error {
	s.restriction.namespaces.close()
	s.restriction.namespaces = nil
	if s.restriction.ruleset > 0 {
		_ = unix.Close(s.restriction.ruleset)
	}
	s.restriction.ruleset = -1
	return nil
}

func (s *Sandbox) start(cmd *exec.Cmd, c *Command) error {
	if err := closeOnExec(); err != nil {
		return err
	}
	group, err := newGroup(s.profile, c.name)
	if err != nil {
		return err
	}
	c.group = group
	if s.profile.Class == Sealed {
		err = s.startSealed(cmd, c)
	} else {
		err = s.startHere(cmd, c)
	}
	if err != nil {
		group.discard()
		return err
	}
	return nil
}

// startHere starts a command on the host's own root.
func (s *Sandbox) startHere(cmd *exec.Cmd, c *Command) error {
	err := launch(cmd, s.profile.Hold, s.restriction.enter, func(pid int) error {
		if err := c.group.add(pid); err != nil {
			return err
		}
		return c.settle(pid, s.profile)
	})
	if err != nil {
		return fmt.Errorf("cannot start %s: %w", cmd.Path, err)
	}
	return nil
}

// settle sets a child's limits and asks the kernel how it is confined.
func (c *Command) settle(pid int, p Profile) error {
	if err := setRlimits(pid, p); err != nil {
		return err
	}
	v, err := readStatus(pid)
	if err != nil {
		return err
	}
	c.verified = v
	return v.verify(p)
}
