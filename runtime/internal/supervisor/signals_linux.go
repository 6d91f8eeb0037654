package supervisor

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	lastSignal = 64
	sigIgnored = 1 // SIG_IGN
)

// A kernelAction has room for the kernel's struct sigaction of any processor;
// its first word is the handler, and all zeros are the default.
type kernelAction [8]uint64

// unignore gives every signal that this process was started to ignore its
// default back: what is ignored stays so across an exec, and commands would
// inherit it. Whoever starts this program may ignore any signal; GNU make leaves
// the two that the C library keeps for itself ignored, which os/signal cannot
// take over.
func unignore() {
	for sig := uintptr(1); sig <= lastSignal; sig++ {
		var now, def kernelAction
		if action(sig, nil, &now) && now[0] == sigIgnored {
			action(sig, &def, nil)
		}
	}
}

// action is rt_sigaction(2).
func action(sig uintptr, set, get *kernelAction) bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig,
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 8, 0, 0)
	return errno == 0
}
