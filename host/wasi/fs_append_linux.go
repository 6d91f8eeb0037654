package wasi

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// appendTo writes to the end of a file in one step, so that what a command writes
// to the same file at the same time is not overwritten.
func appendTo(h *os.File, p []byte) error {
	conn, err := h.SyscallConn()
	if err != nil {
		return err
	}
	for len(p) > 0 {
		n := 0
		if e := conn.Control(func(fd uintptr) { n, err = unix.Pwritev2(int(fd), [][]byte{p}, -1, unix.RWF_APPEND) }); e != nil {
			return e
		}
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return appendAtEnd(h, p)
		case err != nil:
			return err
		}
		p = p[n:]
	}
	return nil
}
