package containment

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A hierarchy is one mounted control group hierarchy, at this process's own
// place in it.
type hierarchy struct {
	// dir is the directory of this process's group.
	dir string
	// controllers are the version 1 controllers; empty for version 2.
	controllers []string
}

// hierarchies finds where this process is, from /proc/self/cgroup and
// /proc/self/mountinfo.
func hierarchies(membership, mounts string) []hierarchy {
	var list []hierarchy
	for line := range strings.Lines(membership) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		controllers := []string{}
		if parts[1] != "" {
			controllers = strings.Split(parts[1], ",")
		}
		if dir := mountedAt(mounts, controllers, parts[2]); dir != "" {
			list = append(list, hierarchy{dir: dir, controllers: controllers})
		}
	}
	return list
}

// mountedAt finds the directory of a group: the mount of its hierarchy, and the
// group's path below the part of the hierarchy that is mounted.
func mountedAt(mounts string, controllers []string, group string) string {
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 3 || !servesControllers(kind, controllers) {
			continue
		}
		root, at := unescape(fields[3]), unescape(fields[4])
		if !within(root, group) {
			continue
		}
		return filepath.Join(at, strings.TrimPrefix(group, strings.TrimSuffix(root, "/")))
	}
	return ""
}

func servesControllers(kind, controllers []string) bool {
	if len(controllers) == 0 {
		return kind[0] == "cgroup2"
	}
	return kind[0] == "cgroup" && slices.Contains(strings.Split(kind[len(kind)-1], ","), controllers[0])
}

// unescape undoes the octal escapes of mountinfo.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// probeGroups finds out, by making and removing a group in each hierarchy, where
// commands can have groups of their own. It makes groups below this process's
// own alone.
func probeGroups() (Groups, map[Mechanism]Finding) {
	membership, err := os.ReadFile("/proc/self/cgroup")
	mounts, err2 := os.ReadFile("/proc/self/mountinfo")
	if err != nil || err2 != nil {
		f := Finding{Why: "control groups cannot be read from /proc", Remedy: "mount /proc"}
		return Groups{}, map[Mechanism]Finding{MechGroupKill: f, MechGroupPids: f, MechGroupMemory: f}
	}
	p := groupProbe{found: map[Mechanism]Finding{
		MechGroupKill:   {Why: "no version 2 hierarchy is mounted", Remedy: "mount cgroup2"},
		MechGroupPids:   {Why: "no pids controller is within reach", Remedy: delegate},
		MechGroupMemory: {Why: "no memory controller is within reach", Remedy: delegate},
	}}
	for _, h := range hierarchies(string(membership), string(mounts)) {
		p.try(h)
	}
	p.settle()
	return p.groups, p.found
}

// delegate is how a host hands a hierarchy to a user.
const delegate = "start the program in a delegated control group, as with systemd-run --user --scope -p Delegate=yes"

type groupProbe struct {
	groups Groups
	found  map[Mechanism]Finding
}

// settle drops a version 2 hierarchy that has no controller where a version 1
// one holds tasks: putting a process into the former when it already runs waits
// for every processor, milliseconds that buy nothing.
func (p *groupProbe) settle() {
	if p.groups.Pids == "" {
		return
	}
	if !p.groups.UnifiedPids && !p.groups.UnifiedMemory {
		p.groups.Unified = ""
	}
	p.found[MechGroupKill] = Finding{OK: true, Detail: p.groups.Pids}
}

func (p *groupProbe) try(h hierarchy) {
	switch {
	case len(h.controllers) == 0:
		p.tryUnified(h.dir)
	case slices.Contains(h.controllers, "pids"):
		p.note(MechGroupPids, h.dir, tryControl(h.dir, "pids.max", "64"), func() { p.groups.Pids = h.dir })
	case slices.Contains(h.controllers, "memory"):
		p.note(MechGroupMemory, h.dir, tryControl(h.dir, "memory.limit_in_bytes", "67108864"), func() { p.groups.Memory = h.dir })
	}
}

func (p *groupProbe) tryUnified(dir string) {
	err := withTrial(dir, func(trial string) error {
		if !exists(path.Join(trial, "cgroup.kill")) {
			return fmt.Errorf("it has no cgroup.kill (Linux 5.14)")
		}
		p.groups.UnifiedPids = control(trial, "pids.max", "64") == nil
		p.groups.UnifiedMemory = control(trial, "memory.max", "67108864") == nil
		return nil
	})
	p.note(MechGroupKill, dir, err, func() { p.groups.Unified = dir })
	if p.groups.UnifiedPids {
		p.note(MechGroupPids, dir, nil, func() {})
	}
	if p.groups.UnifiedMemory {
		p.note(MechGroupMemory, dir, nil, func() {})
	}
}

func (p *groupProbe) note(m Mechanism, dir string, err error, use func()) {
	if err != nil {
		if !p.found[m].OK {
			p.found[m] = Finding{Why: fmt.Sprintf("no group can be made in %s: %v", dir, err), Remedy: delegate}
		}
		return
	}
	use()
	p.found[m] = Finding{OK: true, Detail: dir}
}

func tryControl(dir, file, value string) error {
	return withTrial(dir, func(trial string) error { return control(trial, file, value) })
}

// withTrial makes a group, lets fn try it, and removes it.
func withTrial(dir string, fn func(trial string) error) error {
	trial, err := os.MkdirTemp(dir, groupPrefix+"trial-")
	if err != nil {
		return err
	}
	err = fn(trial)
	if removed := os.Remove(trial); err == nil {
		err = removed
	}
	return err
}
