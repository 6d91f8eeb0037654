package supervisor

import (
	"runtime/debug"
	"sync"
)

// build names this build for the handshake.
var build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	name := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			name += "+" + s.Value
		}
	}
	return name
})
