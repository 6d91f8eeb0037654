//go:build !unix

package rootfs

const nonblock = 0
