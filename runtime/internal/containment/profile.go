package containment

import (
	"path/filepath"
	"strings"
)

// SealedWorkdir is where a sealed command sees its workdir.
const SealedWorkdir = "/workdir"

// A Profile is a settled plan: everything that [Open] needs to enforce it and
// nothing that it would have to decide. It is plain data, so that the process
// that plans and the process that starts commands can be two.
type Profile struct {
	Class Class `json:"class"`
	// Workdir is the real path of the session's workdir.
	Workdir string `json:"workdir"`
	// Temp is the directory in the workdir that /tmp stands for under sealed.
	Temp string `json:"temp,omitempty"`
	// WorkdirExec allows files of the workdir to be executed.
	WorkdirExec bool `json:"workdir_exec"`
	// Grants are the paths that the command may reach, the workdir included.
	Grants []Grant `json:"grants,omitempty"`
	// Network is none or host.
	Network Network `json:"network"`
	// LandlockABI is the version of the rules to apply; 0 is none.
	LandlockABI int `json:"landlock_abi,omitempty"`
	// Seccomp applies the system call filter, with no_new_privs.
	Seccomp bool `json:"seccomp,omitempty"`
	// DropCapabilities empties every capability set.
	DropCapabilities bool `json:"drop_capabilities,omitempty"`
	// SessionNamespaces puts commands into namespaces shared by the session.
	SessionNamespaces bool `json:"session_namespaces,omitempty"`
	// UserNamespace makes the sealed namespaces without being root.
	UserNamespace bool `json:"user_namespace,omitempty"`
	// Ward keeps one set of sealed namespaces for the session, which threads of
	// ours enter, instead of one for each command. It takes root, and a control
	// group to end a command's leftovers by.
	Ward bool `json:"ward,omitempty"`
	// UID is the user to change to; 0 leaves it as it is.
	UID int `json:"uid,omitempty"`
	// Hold sets rlimits while the child stands at its exec; without it they are
	// set right after.
	Hold bool `json:"hold,omitempty"`
	// Groups tells where to make a control group for each command.
	Groups Groups `json:"groups,omitzero"`
	// Limits are the resource limits.
	Limits Limits `json:"limits"`
	// ProcessRlimit bounds processes by the session's own user.
	ProcessRlimit bool `json:"process_rlimit,omitempty"`
	// Receipt is the plan's receipt, pending.
	Receipt Receipt `json:"receipt"`
}

// A Grant lets a command reach a file or everything below a directory.
type Grant struct {
	Path string `json:"path"`
	// Write allows changing and creating, besides reading.
	Write bool `json:"write,omitempty"`
	// Exec allows executing.
	Exec bool `json:"exec,omitempty"`
	// Device marks a device node, which is opened for writing but not created.
	Device bool `json:"device,omitempty"`
	// List allows listing directories and nothing else.
	List bool `json:"list,omitempty"`
	// Optional lets a path be missing: hosts differ in what they have.
	Optional bool `json:"optional,omitempty"`
}

// View is the path at which a command sees its workdir.
func (p Profile) View() string {
	if p.Class == Sealed {
		return SealedWorkdir
	}
	return p.Workdir
}

// Inside translates a real path in the workdir into the path at which a command
// sees it. Other paths are returned as they are.
func (p Profile) Inside(path string) string {
	if p.Class != Sealed || !within(p.Workdir, path) {
		return path
	}
	return SealedWorkdir + strings.TrimPrefix(path, p.Workdir)
}

// Reaches tells whether a command may read and execute the file at path, which
// must be a real path (no symbolic links). It is how a caller can say early
// that an allowed binary lies outside of what the profile grants.
func (p Profile) Reaches(path string) bool {
	if p.Class == Advisory {
		return true
	}
	for _, g := range p.Grants {
		if g.Exec && within(g.Path, path) {
			return true
		}
	}
	return false
}

// within tells whether path is dir or lies below it. Both must be clean.
func within(dir, path string) bool {
	if dir == path || dir == string(filepath.Separator) {
		return true
	}
	return strings.HasPrefix(path, dir+string(filepath.Separator))
}
