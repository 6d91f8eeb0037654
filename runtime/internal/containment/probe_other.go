//go:build !linux

package containment

import (
	"os"
	"runtime"
)

// Probe finds out what this host can enforce: off Linux, nothing.
func Probe(bool) Host {
	h := Host{OS: runtime.GOOS, UID: os.Geteuid(), Found: map[Mechanism]Finding{}}
	for _, m := range Mechanisms() {
		h.Found[m] = Finding{Why: runtime.GOOS + " does not have it", Remedy: "run on Linux"}
	}
	return h
}
