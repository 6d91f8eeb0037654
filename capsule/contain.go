package capsule

import (
	"path"
	"slices"
	"strings"
)

// dimensions are what a manifest can require.
var dimensions = []string{"filesystem", "process_tree", "network", "memory", "process_count", "wall_clock"}

// check checks what commands may touch. Whether the host can enforce it is for a
// session to find out.
func (c *Capabilities) check() *Error {
	if c.Containment != "" {
		if err := oneOf("capabilities.containment", c.Containment, ContainAdvisory, ContainScoped, ContainSealed); err != nil {
			return err
		}
	}
	if err := oneOf("capabilities.network", c.Network, NetworkNone, NetworkHost); err != nil {
		return err
	}
	for _, check := range []func() *Error{c.checkRequire, c.Filesystem.check, c.Resources.check} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Capabilities) checkRequire() *Error {
	for i, d := range c.Require {
		field := item("capabilities.require", i)
		if err := oneOf(field, d, dimensions...); err != nil {
			return err
		}
		switch {
		case slices.Contains(c.Require[:i], d):
			return wrong(field, "%s is already in the list", quote(d))
		case d == "network" && c.Network == NetworkHost:
			return wrong(field, "network cannot be required together with capabilities.network: host")
		}
	}
	return nil
}

func (f *Filesystem) check() *Error {
	for _, list := range []struct {
		field string
		paths []string
	}{{"capabilities.filesystem.read", f.Read}, {"capabilities.filesystem.write", f.Write}} {
		for i, p := range list.paths {
			if err := checkGrant(item(list.field, i), p); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkGrant(field, p string) *Error {
	switch {
	case strings.ContainsRune(p, 0):
		return wrong(field, "it contains a NUL byte")
	case p != "~" && !strings.HasPrefix(p, "~/") && !path.IsAbs(p):
		return wrong(field, "an absolute path, or one that begins with ~/, got %s", quote(p))
	case slices.Contains(strings.Split(p, "/"), ".."):
		return wrong(field, "a path without .., got %s", quote(p))
	case path.Clean(p) == "/":
		return wrong(field, "the whole root cannot be granted; capabilities.containment: advisory contains nothing")
	}
	return nil
}

// check refuses limits of nothing. Memory may have none.
func (r *Resources) check() *Error {
	for _, l := range []struct {
		key          string
		value, least int64
	}{
		{"max_processes", r.MaxProcesses, 1},
		{"max_open_files", r.MaxOpenFiles, 1},
		{"max_file_size_bytes", r.MaxFileSizeBytes, 1},
		{"cpu_seconds", r.CPUSeconds, 1},
		{"memory_bytes", r.MemoryBytes, 0},
		{"cgroup_memory_bytes", r.CgroupMemoryBytes, 1},
		{"cgroup_pids_max", r.CgroupPidsMax, 1},
		{"workdir_max_bytes", r.WorkdirMaxBytes, 1},
		{"max_output_bytes", r.MaxOutputBytes, 1},
	} {
		if l.value < l.least {
			return wrong("capabilities.resources."+l.key, "more than 0, got %d", l.value)
		}
	}
	return nil
}
