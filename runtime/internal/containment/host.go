package containment

// A Mechanism is one means of enforcement that a host may have.
type Mechanism string

// The mechanisms that are probed, in the order they are shown.
const (
	// MechLandlock is the kernel's path and scope rules, of ABI 3 or later.
	MechLandlock Mechanism = "landlock"
	// MechSeccomp is the kernel's system call filter, with no_new_privs.
	MechSeccomp Mechanism = "seccomp"
	// MechCapabilities is dropping capabilities; it matters for root alone.
	MechCapabilities Mechanism = "capabilities"
	// MechHold is holding a child at its exec, so that limits are set before
	// its first instruction.
	MechHold Mechanism = "hold_at_exec"
	// MechSessionNamespaces are a network and an IPC namespace made once a
	// session, which threads of ours enter. It takes root.
	MechSessionNamespaces Mechanism = "session_namespaces"
	// MechSealedRoot is a composed root in namespaces of its own.
	MechSealedRoot Mechanism = "sealed_root"
	// MechGroupKill is a control group a command, which can be killed and watched
	// as a whole.
	MechGroupKill Mechanism = "cgroup_kill"
	// MechGroupPids is a control group's ceiling on tasks.
	MechGroupPids Mechanism = "cgroup_pids"
	// MechGroupMemory is a control group's ceiling on memory.
	MechGroupMemory Mechanism = "cgroup_memory"
)

// Mechanisms lists every mechanism in the order they are shown.
func Mechanisms() []Mechanism {
	return []Mechanism{
		MechLandlock, MechSeccomp, MechCapabilities, MechHold, MechSessionNamespaces,
		MechSealedRoot, MechGroupKill, MechGroupPids, MechGroupMemory,
	}
}

// A Finding is what trying a mechanism gave.
type Finding struct {
	// OK says that it worked when it was tried.
	OK bool `json:"ok"`
	// Detail describes what there is, as in "ABI 7".
	Detail string `json:"detail,omitempty"`
	// Why says what stood in the way.
	Why string `json:"why,omitempty"`
	// Remedy says how the host could give it.
	Remedy string `json:"remedy,omitempty"`
}

// A Host is what this machine can enforce for this user, found by trying.
type Host struct {
	// OS is the operating system, as Go names it.
	OS string `json:"os"`
	// UID is the user that commands are started by.
	UID int `json:"uid"`
	// LandlockABI is the version of the kernel's Landlock interface; 0 is none.
	LandlockABI int `json:"landlock_abi,omitempty"`
	// Found has a finding for every mechanism.
	Found map[Mechanism]Finding `json:"found"`
	// Groups tells where control groups can be made.
	Groups Groups `json:"groups,omitzero"`
}

// Has tells whether m worked when it was tried.
func (h Host) Has(m Mechanism) bool { return h.Found[m].OK }

// Root tells whether commands are started by the superuser.
func (h Host) Root() bool { return h.UID == 0 }

// Best is the strongest class that the host can give.
func (h Host) Best() Class {
	for _, c := range []Class{Sealed, Scoped} {
		if len(h.missing(c)) == 0 {
			return c
		}
	}
	return Advisory
}

// missing lists the mechanisms that c needs and the host lacks.
func (h Host) missing(c Class) []Mechanism {
	var need []Mechanism
	switch c {
	case Scoped:
		need = []Mechanism{MechSeccomp, MechLandlock}
	case Sealed:
		// Landlock is worn under the seal where there is one; a path that is
		// not in the root needs no rule.
		need = []Mechanism{MechSeccomp, MechSealedRoot}
	default:
		return nil
	}
	if h.Root() {
		need = append(need, MechCapabilities)
	}
	var lack []Mechanism
	for _, m := range need {
		if !h.Has(m) {
			lack = append(lack, m)
		}
	}
	return lack
}

// Groups tells below which directories a control group a command can be made.
// An empty path means that there is none.
type Groups struct {
	// Unified is a directory of the version 2 hierarchy.
	Unified string `json:"unified,omitempty"`
	// UnifiedPids and UnifiedMemory tell which controllers Unified has.
	UnifiedPids   bool `json:"unified_pids,omitempty"`
	UnifiedMemory bool `json:"unified_memory,omitempty"`
	// Pids and Memory are directories of version 1 hierarchies, used where the
	// unified one lacks the controller.
	Pids   string `json:"pids,omitempty"`
	Memory string `json:"memory,omitempty"`
}

// canKill tells whether a group made here can be killed as a whole: by the
// kernel in version 2, and in version 1 by forbidding forks first.
func (g Groups) canKill() bool { return g.Unified != "" || g.Pids != "" }
