package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// reach calls f with a short path of a file in dir: an address of a Unix socket
// has room for 108 bytes, a path in the state directory may need more.
func reach(dir, name string, f func(path string) error) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", fd, name))
}

// listen makes the session's socket. The caller has the lock, so whatever is
// there under its name is a dead supervisor's.
func listen(dir string) (*net.UnixListener, error) {
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var l *net.UnixListener
	err := reach(dir, socketName, func(path string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	// The path through the descriptor means nothing later; the supervisor
	// removes the socket by its own path.
	l.SetUnlinkOnClose(false)
	return l, nil
}

// dial connects to the session's supervisor. ErrNone says that there is none.
func dial(dir string) (net.Conn, error) {
	var c net.Conn
	err := reach(dir, socketName, func(path string) (err error) {
		c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach the supervisor: %w", err)
	}
	return c, nil
}

// control calls f with the connection's descriptor.
func control(c net.Conn, f func(fd int) error) error {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return errors.New("no descriptor")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = f(int(fd)) })
	return errors.Join(err, inner)
}

// checkPeer refuses a peer that is neither our user nor root.
func checkPeer(c net.Conn) error {
	return control(c, func(fd int) error {
		cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil {
			return os.NewSyscallError("getsockopt(SO_PEERCRED)", err)
		}
		if uid := int(cred.Uid); uid != 0 && uid != os.Geteuid() {
			return fmt.Errorf("peer with uid %d refused", uid)
		}
		return nil
	})
}

// hungUp says whether the peer has closed its end, read or unread data
// notwithstanding.
func hungUp(c net.Conn) bool {
	gone := false
	err := control(c, func(fd int) error {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(p, 0)
		gone = n > 0
		return err
	})
	return gone || err != nil
}
