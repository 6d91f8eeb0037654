package unixsock

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

// reach calls f with a short path of a file in dir, which leads through a
// descriptor of the directory.
func reach(dir, name string, f func(path string) error) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", fd, name))
}

// Listen makes the socket, its owner's alone. The caller knows that nobody else
// listens there: what is in its place is left over from a process that died.
// Closing the listener leaves the socket; it is the caller's to remove.
func Listen(dir, name string) (*net.UnixListener, error) {
	if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var l *net.UnixListener
	err := reach(dir, name, func(path string) (err error) {
		if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}); err != nil {
			return err
		}
		// Whatever the umask is. Until then the directory keeps others away.
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		if l != nil {
			_ = l.Close()
		}
		return nil, err
	}
	// The path through the descriptor means nothing later.
	l.SetUnlinkOnClose(false)
	return l, nil
}

// Dial connects to the socket.
func Dial(dir, name string) (*net.UnixConn, error) {
	var c *net.UnixConn
	err := reach(dir, name, func(path string) (err error) {
		c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		return nil, ErrNobody
	}
	return c, err
}

// Control calls f with the connection's descriptor.
func Control(c net.Conn, f func(fd int) error) error {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return errors.New("the connection has no descriptor")
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = f(int(fd)) })
	return errors.Join(err, inner)
}

// CheckPeer refuses a peer that is neither our user nor root.
func CheckPeer(c net.Conn) error {
	return Control(c, func(fd int) error {
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
