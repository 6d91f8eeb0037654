//go:build unix

package rootfs

import (
	"os"

	"golang.org/x/sys/unix"
)

// inode is the number of a directory's entry, or 0: programs compare it, and some
// take an entry without one for a deleted file.
func inode(dir *os.File, name string) uint64 {
	conn, err := dir.SyscallConn()
	if err != nil {
		return 0
	}
	var st unix.Stat_t
	err2 := conn.Control(func(fd uintptr) { err = unix.Fstatat(int(fd), name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil || err2 != nil {
		return 0
	}
	return uint64(st.Ino)
}
