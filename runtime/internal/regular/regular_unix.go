//go:build unix

package regular

import "syscall"

// atOnce keeps an open from waiting for the other end of a pipe, and from
// following a link.
const atOnce = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
