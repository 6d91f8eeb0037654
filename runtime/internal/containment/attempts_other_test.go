//go:build linux && !amd64

package containment

import "golang.org/x/sys/unix"

// connect32 stands for the 32-bit calls, which this architecture may not have:
// it makes a socket by the only ones there are.
func connect32() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return connectHost(fd)
}
