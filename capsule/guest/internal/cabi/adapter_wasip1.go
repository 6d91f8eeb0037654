package cabi

// The adapter that stands between this module and WASI 0.2 in a component wants
// some pages of the module's memory, and it wants them before the Go runtime has
// started. It cannot be given them by growing the memory: the Go heap takes all
// that is grown for its own. So they are set aside here. Whoever makes a
// component of the module finds them by their mark.
const adapterPages = 2

var adapterMemory = struct {
	mark  [16]byte // no string, of which there might be copies
	pages uint8
	block [adapterPages<<16 + 15]byte // with some room to align it
}{
	mark:  [16]byte{'m', 'u', 'r', 'm', 'u', 'r', ':', 'a', 'd', 'a', 'p', 't', 'e', 'r', '-', '1'},
	pages: adapterPages,
}

// The linker drops a variable that nothing uses.
var kept *byte

func init() { kept = &adapterMemory.block[0] }
