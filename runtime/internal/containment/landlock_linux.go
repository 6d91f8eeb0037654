package containment

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// minLandlock is the first ABI with a right for truncating: before it, any file
// that the user may write could be emptied.
const minLandlock = 3

// The rights of a grant. MakeBlock, MakeChar and IoctlDev are in none of them.
const (
	rightsReadFile  = ll.AccessFSReadFile
	rightsReadDir   = ll.AccessFSReadFile | ll.AccessFSReadDir
	rightsExec      = ll.AccessFSExecute
	rightsWriteFile = ll.AccessFSWriteFile | ll.AccessFSTruncate
	rightsWriteDir  = rightsWriteFile | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile |
		ll.AccessFSMakeDir | ll.AccessFSMakeReg | ll.AccessFSMakeSym | ll.AccessFSMakeSock |
		ll.AccessFSMakeFifo | ll.AccessFSRefer | ll.AccessFSResolveUnix
)

var landlockConfigs = []landlock.Config{
	landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7,
	landlock.V8, landlock.V9, landlock.V10, landlock.V11,
}

// landlockConfig picks what a ruleset of the ABI handles. Sockets are handled
// where seccomp is the only other thing that keeps a command from the network.
func landlockConfig(abi int, sockets bool) landlock.Config {
	i := min(abi-minLandlock, len(landlockConfigs)-1)
	c := landlockConfigs[i]
	if !sockets {
		c.HandledAccessNet = 0
	}
	return c
}

// newRuleset makes the ruleset of a profile. The descriptor can be applied by
// any number of threads; paths are resolved now.
func newRuleset(p Profile) (int, error) {
	config := landlockConfig(p.LandlockABI, p.Class == Scoped && p.Network == NetworkNone && !p.SessionNamespaces)
	var rules []landlock.Rule
	for _, g := range p.Grants {
		rights, err := grantRights(g, config.HandledAccessFS)
		if os.IsNotExist(err) && g.Optional {
			continue
		}
		if err != nil {
			return -1, fmt.Errorf("cannot grant %s: %w", g.Path, err)
		}
		rules = append(rules, landlock.PathAccess(rights, g.Path))
	}
	fd, _, err := config.NewRulesetFD(rules...)
	if err != nil {
		return -1, fmt.Errorf("cannot make the landlock ruleset: %w", err)
	}
	if fd < 0 {
		// The library answers so when nothing would be enforced.
		return -1, fmt.Errorf("cannot make the landlock ruleset: it would enforce nothing")
	}
	return fd, nil
}

// grantRights are the rights of g, cut to what is handled. A rule on a file must
// not have rights of directories.
func grantRights(g Grant, handled landlock.AccessFSSet) (landlock.AccessFSSet, error) {
	info, err := os.Stat(g.Path)
	if err != nil {
		return 0, err
	}
	if g.List {
		return ll.AccessFSReadDir & handled, nil
	}
	read, write := landlock.AccessFSSet(rightsReadFile), landlock.AccessFSSet(rightsWriteFile)
	if info.IsDir() {
		read, write = rightsReadDir, rightsWriteDir
	}
	rights := read
	if g.Write {
		rights |= write
	}
	if g.Exec {
		rights |= rightsExec
	}
	return rights & handled, nil
}

// restrictLandlock puts the calling thread, and all it forks, under a ruleset.
// It takes no_new_privs or CAP_SYS_ADMIN.
func restrictLandlock(ruleset int) error {
	if err := ll.LandlockRestrictSelf(ruleset, 0); err != nil {
		return fmt.Errorf("cannot apply landlock: %w", err)
	}
	return nil
}
