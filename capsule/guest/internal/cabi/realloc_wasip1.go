//go:build wasip1

package cabi

import (
	"strings"
	"unsafe"
)

// While a goroutine is pinned the runtime neither starts a collection nor makes
// an allocation help one. It is the only way to allocate a block that the arena
// has no room for without waking the collector.
//
//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

//go:wasmexport cabi_realloc
func cabiRealloc(old, oldSize, align, size uint32) uint32 {
	procPin()
	p := Realloc(Pointer(old), oldSize, align, size)
	procUnpin()
	return uint32(uintptr(p))
}

// Pointer returns the address p of the module's memory as a pointer. Addresses
// are 32 bits wide on wasm, although GOARCH=wasm has pointers of 64.
func Pointer(p uint32) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(nil), p)
}

// String returns a copy of the n bytes at address p.
func String(p, n uint32) string {
	if n == 0 {
		return ""
	}
	return strings.Clone(unsafe.String((*byte)(Pointer(p)), n))
}
