//go:build !linux

package unixsock

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// Listen makes the socket. The caller knows that nobody else listens there:
// what is in its place is left over from a process that died. Closing the
// listener leaves the socket; it is the caller's to remove.
func Listen(dir, name string) (*net.UnixListener, error) {
	path := filepath.Join(dir, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		l.SetUnlinkOnClose(false)
	}
	return l, err
}

// Dial connects to the socket.
func Dial(dir, name string) (*net.UnixConn, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"})
	if err != nil {
		return nil, errors.Join(ErrNobody, err)
	}
	return c, nil
}

// CheckPeer relies on the directory, which its owner alone can enter: who a peer
// is cannot be asked portably.
func CheckPeer(net.Conn) error { return nil }
