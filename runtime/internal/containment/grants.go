package containment

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// systemTrees are the host's programs and libraries. They hold no secrets of a
// user, and builds need them.
var systemTrees = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
	"/nix/store", "/gnu/store",
}

// systemFiles are the parts of /etc, /sys and /proc that ordinary programs read.
// Keys, shadow files and the configuration of services are not among them:
// /etc/ssl/private, for one, is why /etc/ssl is not granted as a whole.
var systemFiles = []string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld-musl-x86_64.path",
	"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/hosts",
	"/etc/resolv.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
	"/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/debian_version", "/etc/lsb-release",
	"/etc/locale.alias", "/etc/locale.conf", "/etc/mime.types", "/etc/magic", "/etc/magic.mime",
	"/etc/inputrc", "/etc/terminfo", "/etc/bash.bashrc", "/etc/profile", "/etc/profile.d",
	"/etc/alternatives", "/etc/fonts", "/etc/gitconfig", "/etc/perl", "/etc/python3", "/etc/python3.11",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/ca-certificates.conf",
	"/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust/extracted", "/etc/crypto-policies",
	"/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
}

// devices are the nodes that carry no state of anyone.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// grants settles what a command may reach: the system's parts, what was asked
// for, and the workdir. It refuses a grant that would open the state directory,
// since a rule can only ever allow.
func grants(a Ask, f Facts) ([]Grant, error) {
	list := systemGrants()
	exec := workdirExec(a)
	for _, side := range []struct {
		field string
		paths []string
		write bool
	}{
		{"filesystem.read", a.Filesystem.Read, false},
		{"filesystem.write", a.Filesystem.Write, true},
	} {
		for i, p := range side.paths {
			real, err := f.resolve(p)
			if err != nil {
				return nil, fmt.Errorf("%s[%d]: cannot grant %q: %w", side.field, i, p, err)
			}
			if err := guard(real, f); err != nil {
				return nil, fmt.Errorf("%s[%d]: cannot grant %q: %w", side.field, i, p, err)
			}
			list = append(list, Grant{Path: real, Write: side.write, Exec: !side.write || exec})
		}
	}
	return append(list, Grant{Path: f.Workdir, Write: true, Exec: exec}), nil
}

func systemGrants() []Grant {
	var list []Grant
	for _, p := range systemTrees {
		list = append(list, Grant{Path: p, Exec: true, Optional: true})
	}
	for _, p := range systemFiles {
		list = append(list, Grant{Path: p, Optional: true})
	}
	// procfs makes a new inode for a file each time it is looked up, so a rule
	// holds on its root or not at all. Other processes' memory, environment and
	// descriptors stay closed: Landlock denies the ptrace access they need.
	list = append(list, Grant{Path: "/proc", Optional: true})
	for _, p := range devices {
		list = append(list, Grant{Path: p, Write: true, Device: true, Optional: true})
	}
	return list
}

// guard refuses to open what no command may ever reach.
func guard(path string, f Facts) error {
	if path == "/" {
		return fmt.Errorf("it is the whole root")
	}
	for _, hidden := range f.Hidden {
		if within(path, hidden) {
			return fmt.Errorf("it holds %s, which no command may reach", hidden)
		}
		if within(hidden, path) {
			return fmt.Errorf("it lies in %s, which no command may reach", hidden)
		}
	}
	return nil
}

func workdirExec(a Ask) bool {
	return a.Filesystem.WorkdirExec == nil || *a.Filesystem.WorkdirExec
}

// Facts are what a launch knows besides the manifest and the host.
type Facts struct {
	// Workdir is the real, absolute path of the session's workdir.
	Workdir string
	// Hidden are real, absolute paths that no grant may open, the state
	// directory above all. The workdir itself may lie in one of them.
	Hidden []string
	// UID is a user that this session alone has, for a workdir that was made
	// for it and belongs to that user. 0 stands for none: commands then keep
	// the user they are started by.
	UID int
	// Temp is the directory in the workdir, by its real path, that /tmp stands
	// for under sealed. Empty stands for the workdir itself.
	Temp string
	// Home replaces "~" in granted paths.
	Home string
	// Resolve makes a path real, following symbolic links; nil stands for
	// [filepath.EvalSymlinks].
	Resolve func(string) (string, error)
}

func (f Facts) resolve(path string) (string, error) {
	if path = AtHome(path, f.Home); strings.HasPrefix(path, "~") {
		return "", errors.New("there is no home directory")
	}
	resolve := f.Resolve
	if resolve == nil {
		resolve = filepath.EvalSymlinks
	}
	return resolve(filepath.Clean(path))
}

// AtHome is a granted path with the home directory in place of "~". Without a
// home it stays as it is.
func AtHome(path, home string) string {
	if home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		return home + path[1:]
	}
	return path
}

func (f Facts) validate() error {
	for _, p := range append(slices.Clone(f.Hidden), f.Workdir) {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p {
			return fmt.Errorf("internal error: %q is not a clean absolute path", p)
		}
	}
	for _, h := range f.Hidden {
		if within(f.Workdir, h) {
			return fmt.Errorf("cannot contain commands: the workdir %s holds %s, which no command may reach", f.Workdir, h)
		}
	}
	for _, t := range systemTrees {
		if within(t, f.Workdir) || within(f.Workdir, t) {
			return fmt.Errorf("cannot contain commands: the workdir %s and the system's %s overlap", f.Workdir, t)
		}
	}
	return nil
}
