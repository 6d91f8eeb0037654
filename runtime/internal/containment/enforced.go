package containment

import "fmt"

// receipt writes down what p enforces, dimension by dimension and limit by limit.
func receipt(a Ask, h Host, p Profile) Receipt {
	r := Receipt{
		Class: p.Class, Asked: a.Class, Require: a.Require, Pending: true,
		Enforced: map[Dimension][]string{}, NotEnforced: map[Dimension]string{},
		Network: p.Network, UID: h.UID,
	}
	if p.UID > 0 {
		r.UID = p.UID
	}
	for _, d := range Dimensions() {
		by, why := enforcement(d, h, p)
		if len(by) > 0 {
			r.Enforced[d] = by
		} else {
			r.NotEnforced[d] = why
		}
	}
	r.Limits = limitReceipts(h, p)
	r.Notes = notes(a, h, p)
	return r
}

// enforcement names the mechanisms that enforce d, or the reason that none does.
func enforcement(d Dimension, h Host, p Profile) (by []string, why string) {
	switch d {
	case DimFilesystem:
		return filesystem(h, p)
	case DimProcessTree:
		return processTree(h, p)
	case DimNetwork:
		return network(h, p)
	case DimMemory:
		return memory(h, p)
	case DimProcessCount:
		return processCount(h, p)
	default:
		return []string{"timer"}, ""
	}
}

func filesystem(h Host, p Profile) ([]string, string) {
	rules := fmt.Sprintf("landlock ABI %d", p.LandlockABI)
	switch {
	case p.Class == Sealed && p.LandlockABI > 0:
		return []string{"composed root", rules}, ""
	case p.Class == Sealed:
		return []string{"composed root"}, ""
	case p.Class == Scoped:
		return []string{rules}, ""
	}
	return nil, weak(h)
}

func processTree(h Host, p Profile) ([]string, string) {
	switch {
	case p.Ward:
		return []string{"cgroup", "pid namespace"}, ""
	case p.Class == Sealed:
		return []string{"pid namespace"}, ""
	case p.Groups.canKill():
		return held(p)
	}
	return nil, "a process that leaves its session is found by its environment alone: " + h.reason(MechGroupKill)
}

func memory(h Host, p Profile) ([]string, string) {
	if groupMemory(p) {
		return held(p)
	}
	return nil, "no control group for memory: " + h.reason(MechGroupMemory)
}

// held is what a control group enforces: nothing on a command that may write to
// the hierarchy, as it may under advisory, and so can leave its group.
func held(p Profile) ([]string, string) {
	if p.Class == Advisory {
		return nil, "class advisory lets a command leave its control group"
	}
	return []string{"cgroup"}, ""
}

func network(h Host, p Profile) ([]string, string) {
	switch {
	case p.Network == NetworkHost:
		return nil, "the host's network is granted"
	case p.Class == Sealed, p.SessionNamespaces:
		return []string{"network namespace", "seccomp"}, ""
	case p.Class == Scoped:
		return []string{"seccomp"}, ""
	}
	return nil, weak(h)
}

func processCount(h Host, p Profile) ([]string, string) {
	switch {
	case groupPids(p):
		return held(p)
	case p.ProcessRlimit:
		return []string{"rlimit of the session's own user"}, ""
	}
	return nil, "an rlimit would count the user's other processes, and there is no control group for tasks: " + h.reason(MechGroupPids)
}

// weak says why a profile is advisory.
func weak(h Host) string {
	if h.OS != "linux" {
		return "class advisory, the only one on " + h.OS
	}
	if lack := h.missing(Scoped); len(lack) > 0 {
		return "class advisory: " + explain(h, lack)[0]
	}
	return "class advisory was asked for"
}

func (h Host) reason(m Mechanism) string {
	f := h.Found[m]
	switch {
	case f.Why == "":
		return string(m) + " was not found"
	case f.Remedy == "":
		return f.Why
	}
	return f.Why + "; to get it: " + f.Remedy
}

func groupPids(p Profile) bool   { return p.Groups.UnifiedPids || p.Groups.Pids != "" }
func groupMemory(p Profile) bool { return p.Groups.UnifiedMemory || p.Groups.Memory != "" }

// limitReceipts tells for each limit who enforces it.
func limitReceipts(h Host, p Profile) []LimitReceipt {
	l := p.Limits
	rlimit, late := rlimitBy(h, p)
	list := []LimitReceipt{
		{Name: "max_open_files", Value: l.MaxOpenFiles, By: rlimit, Why: late},
		{Name: "max_file_size_bytes", Value: l.MaxFileSizeBytes, By: rlimit, Why: late},
		{Name: "cpu_seconds", Value: l.CPUSeconds, By: rlimit, Why: late},
	}
	if l.MemoryBytes > 0 {
		list = append(list, LimitReceipt{Name: "memory_bytes", Value: l.MemoryBytes, By: rlimit, Why: late})
	}
	group := "cgroup"
	if p.Class == Advisory {
		group = "cgroup, unless the command leaves it"
	}
	list = append(list,
		maxProcesses(h, p, group),
		limitReceipt("cgroup_pids_max", l.CgroupPidsMax, groupPids(p), group, h.reason(MechGroupPids)),
		limitReceipt("cgroup_memory_bytes", l.CgroupMemoryBytes, groupMemory(p), group, h.reason(MechGroupMemory)),
		// Nothing short of a filesystem of its own can stop the write itself.
		LimitReceipt{Name: "workdir_max_bytes", Value: l.WorkdirMaxBytes, By: "checked before a command starts, not while it runs"},
		LimitReceipt{Name: "max_output_bytes", Value: l.MaxOutputBytes, By: "capture"},
	)
	return list
}

func limitReceipt(name string, value int64, ok bool, by, why string) LimitReceipt {
	if ok {
		return LimitReceipt{Name: name, Value: value, By: by}
	}
	return LimitReceipt{Name: name, Value: value, Why: why}
}

// rlimitBy says how rlimits hold, or why there are none.
func rlimitBy(h Host, p Profile) (by, why string) {
	switch {
	case h.OS != "linux":
		return "", "resource limits are set on Linux alone"
	case !p.Hold:
		return "rlimit, set just after the command's start", ""
	case h.Root() && !p.DropCapabilities:
		return "rlimit, which root can raise", ""
	}
	return "rlimit", ""
}

func maxProcesses(h Host, p Profile, group string) LimitReceipt {
	r := LimitReceipt{Name: "max_processes", Value: p.Limits.MaxProcesses}
	switch {
	case groupPids(p):
		r.By = group
	case p.ProcessRlimit:
		r.By = "rlimit of the session's own user"
	default:
		_, r.Why = processCount(h, p)
	}
	return r
}

// notes are what an operator should know and no dimension says.
func notes(a Ask, h Host, p Profile) []string {
	var list []string
	if a.Class == "" && p.Class == Advisory {
		list = append(list, "commands are not contained: "+weak(h))
	}
	if p.Class == Advisory && len(a.Filesystem.Read)+len(a.Filesystem.Write) > 0 {
		list = append(list, "filesystem grants have no meaning under class advisory")
	}
	if p.Class == Scoped && p.LandlockABI < 6 {
		list = append(list, "this kernel lets commands signal other processes of their user (Landlock before ABI 6)")
	}
	if p.Class == Scoped && !p.WorkdirExec {
		list = append(list, "workdir_exec: false stops direct execution alone under class scoped; the dynamic loader still maps files of the workdir")
	}
	if !p.Hold && p.Class != Advisory && h.OS == "linux" {
		list = append(list, "children cannot be held at their exec here: a command runs some microseconds before its limits are set and before the thread that started it has ended, which it could trace")
	}
	if p.Class == Scoped {
		list = append(list, "commands see the names and command lines of the host's processes")
	}
	return list
}
