//go:build unix

package shell

import (
	"os"
	"syscall"
)

var systemPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// onlySystemWrites reports whether path is a directory that belongs to root and
// that nobody else may write to.
func onlySystemWrites(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() || info.Mode()&0o022 != 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}
