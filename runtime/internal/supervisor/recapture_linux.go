package supervisor

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/capture"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

// recapture goes on capturing the output of a command whose supervisor died.
// The pipes live on in the command's own hands: it holds both their ends.
func recapture(tree proctree.Tree, name string, s streams) (*capture.Capture, bool) {
	members, _, err := tree.Members()
	if err != nil {
		return nil, false
	}
	pipes := s.Pipes
	if pipes == [2]uint64{} {
		pipes = heldPipes(tree.Leader.PID)
	}
	var ends [2]*os.File
	for i, inode := range pipes {
		if ends[i] = findPipe(members, inode); ends[i] == nil {
			ends[i], err = noPipe()
		}
		if err != nil {
			return nil, false
		}
	}
	c, err := capture.Adopt(s.Dir, name, s.Limit, ends[0], ends[1])
	if err != nil {
		ends[0].Close()
		ends[1].Close()
	}
	return c, err == nil
}

// heldPipes finds the pipes of a command whose supervisor died before it could
// note them down: what a leader has just begun with, and open for reading and
// writing, as no one else makes them.
func heldPipes(leader int) (pipes [2]uint64) {
	for i, fd := range []string{"1", "2"} {
		dir := fmt.Sprintf("/proc/%d/", leader)
		link, err := os.Readlink(dir + "fd/" + fd)
		if err != nil {
			continue
		}
		info, err := os.ReadFile(dir + "fdinfo/" + fd)
		if err != nil {
			continue
		}
		var pos, flags, inode uint64
		if n, _ := fmt.Sscanf(string(info), "pos:\t%d\nflags:\t%o", &pos, &flags); n != 2 || flags&unix.O_ACCMODE != unix.O_RDWR {
			continue
		}
		if n, _ := fmt.Sscanf(link, "pipe:[%d]", &inode); n == 1 {
			pipes[i] = inode
		}
	}
	return pipes
}

// findPipe opens the pipe for reading if one of the processes has it.
func findPipe(procs []proctree.Proc, inode uint64) *os.File {
	if inode == 0 {
		return nil
	}
	want := fmt.Sprintf("pipe:[%d]", inode)
	for _, p := range procs {
		dir := fmt.Sprintf("/proc/%d/fd", p.PID)
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			path := dir + "/" + e.Name()
			if link, err := os.Readlink(path); err != nil || link != want {
				continue
			}
			if f := openPipe(path, inode); f != nil {
				return f
			}
		}
	}
	return nil
}

// openPipe opens path and makes sure that it is the pipe: what the link said may
// have changed.
func openPipe(path string, inode uint64) *os.File {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Ino != inode || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), path)
}

// noPipe is the end of a stream that nobody can write to any more.
func noPipe() (*os.File, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	unix.Close(ends[1])
	return os.NewFile(uintptr(ends[0]), "no pipe"), nil
}
