package proctree

import (
	"bytes"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// procSuper is the file system type of procfs. A container may have a file of
// another file system put over /proc/loadavg, with numbers of its own.
const procSuper = 0x9fa0

var lastPIDFile = sync.OnceValue(func() int {
	for _, name := range []string{"/proc/sys/kernel/ns_last_pid", "/proc/loadavg"} {
		fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		var fs unix.Statfs_t
		if unix.Fstatfs(fd, &fs) == nil && fs.Type == procSuper {
			return fd
		}
		unix.Close(fd)
	}
	return -1
})

// lastPID returns the last pid that was given out to any process or thread of
// this pid namespace, or 0 if that cannot be known.
func lastPID() int {
	var buf [64]byte
	n, err := unix.Pread(lastPIDFile(), buf[:], 0)
	if err != nil || n <= 0 {
		return 0
	}
	line := bytes.TrimSpace(buf[:n])
	pid, err := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
	if err != nil {
		return 0
	}
	return pid
}

var ownerFile = sync.OnceValue(func() int {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	return fd
})

// numberFree reports whether nothing uses pid as the number of a process, a
// group or a session, zombies included. False may also mean that it cannot be
// told.
func numberFree(pid int) bool {
	_, err := unix.FcntlInt(uintptr(ownerFile()), unix.F_SETOWN, pid)
	return err == unix.ESRCH
}
