package containment

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// enforcer is what a sandbox holds open on Linux.
type enforcer struct {
	restriction restriction
	left        leftGroups
}

// running is what a command holds open on Linux.
type running struct {
	group *Group
	seal  *seal
}

func (e *enforcer) open(p Profile) error {
	e.restriction = restriction{ruleset: -1}
	sweep(p.Groups)
	if p.Class == Advisory {
		return nil
	}
	if p.Class == Sealed && !p.Ward {
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
	if p.Ward {
		if r.ward, err = openWard(p); err != nil {
			return err
		}
		p = p.seenInside()
	}
	if p.LandlockABI > 0 {
		if r.ruleset, err = r.newRuleset(p); err != nil {
			return err
		}
	}
	if p.Seccomp {
		r.filter, err = newFilter(p)
	}
	return err
}

// newRuleset makes the ruleset where its paths mean what the command will see.
func (r *restriction) newRuleset(p Profile) (fd int, err error) {
	if r.ward == nil {
		return newRuleset(p)
	}
	err = onThread(func() error {
		if err := r.ward.join(); err != nil {
			return err
		}
		fd, err = newRuleset(p)
		return err
	})
	return fd, err
}

// Close releases what the sandbox holds. It ends no command.
func (s *Sandbox) Close() error {
	s.restriction.namespaces.close()
	s.restriction.namespaces = nil
	s.restriction.ward.close()
	s.restriction.ward = nil
	if s.restriction.ruleset > 0 {
		_ = unix.Close(s.restriction.ruleset)
	}
	s.restriction.ruleset = -1
	s.left.close()
	return nil
}

func (s *Sandbox) start(f *fork, c *Command) error {
	if err := closeOnExec(); err != nil {
		return err
	}
	group, err := newGroup(s.profile, c.name)
	if err != nil {
		return err
	}
	c.group = group
	if s.profile.Class == Sealed && !s.profile.Ward {
		err = s.startSealed(f, c)
	} else {
		err = s.startHere(f, c)
	}
	if err != nil {
		s.left.discard(group)
		return err
	}
	return nil
}

// startHere starts a command by a thread of this process.
func (s *Sandbox) startHere(f *fork, c *Command) error {
	if s.profile.Ward {
		if err := s.profile.enterable(f.attr.Dir); err != nil {
			return err
		}
		f.attr.Dir = s.profile.Inside(f.attr.Dir)
	}
	filtered := s.profile.Seccomp
	if !filtered {
		release, err := c.group.birth(f.attr.Sys)
		if err != nil {
			return err
		}
		defer release()
	}
	enter := func() error {
		if err := c.group.join(); err != nil {
			return err
		}
		return s.restriction.enter()
	}
	return launch(f, s.profile.Hold, enter, func(pid int) error {
		if filtered {
			if err := c.group.add(pid); err != nil {
				return err
			}
		}
		return c.settle(pid, s.profile)
	})
}

// enterable refuses a directory that a sealed command must not start in. One
// that is given by a descriptor, through /proc, would be the host's own, and
// its parents with it.
func (p Profile) enterable(dir string) error {
	if filepath.Clean(dir) != dir || !within(p.Workdir, dir) {
		return fmt.Errorf("internal error: the directory %q does not lie in the workdir", dir)
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
