//go:build linux || darwin

package host

import "golang.org/x/sys/unix"

// mapMemory maps memory that costs nothing until it is touched, or gives nil.
func mapMemory(size uint64) []byte {
	if size == 0 {
		return nil
	}
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil // an address space that is bounded: the heap will do
	}
	return b
}

func unmapMemory(b []byte) { _ = unix.Munmap(b) }
