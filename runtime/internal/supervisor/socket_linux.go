package supervisor

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/unixsock"
)

// dial connects to the session's supervisor. ErrNone says that there is none.
func dial(dir string) (net.Conn, error) {
	c, err := unixsock.Dial(dir, socketName)
	if errors.Is(err, unixsock.ErrNobody) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach the supervisor: %w", err)
	}
	peerGoesOn(c)
	return c, nil
}

// hungUp says whether the peer has closed its end, read or unread data
// notwithstanding.
func hungUp(c net.Conn) bool {
	gone := false
	err := unixsock.Control(c, func(fd int) error {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(p, 0)
		gone = n > 0
		return err
	})
	return gone || err != nil
}
