package runtime

import (
	"os"
	"syscall"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
)

// unwritable tells whose workdir it is that root's commands cannot write to, for
// want of the capabilities that were taken from them.
func unwritable(p containment.Profile) (owner int, ok bool) {
	if !p.DropCapabilities || p.UID != 0 || os.Geteuid() != 0 {
		return 0, false
	}
	info, err := os.Stat(p.Workdir)
	if err != nil {
		return 0, false
	}
	st, known := info.Sys().(*syscall.Stat_t)
	if !known || st.Uid == 0 || st.Mode&0o002 != 0 || st.Gid == 0 && st.Mode&0o020 != 0 {
		return 0, false
	}
	return int(st.Uid), true
}
