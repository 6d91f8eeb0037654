package runtime

import (
	"fmt"
	"io"
	"sync"
)

// maxGuestLog bounds a session's guest.log: a guest that never stops writing
// must not fill the disk.
const maxGuestLog = 64 << 20

// A guestWriter keeps what a guest writes. It never fails: a log that cannot be
// written is no fault of the guest's.
type guestWriter struct {
	mu   sync.Mutex
	log  io.Writer
	room int
	copy io.Writer // may be nil
}

func (g *guestWriter) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.copy != nil {
		_, _ = g.copy.Write(p)
	}
	if g.room <= 0 {
		return len(p), nil
	}
	kept := p[:min(len(p), g.room)]
	_, _ = g.log.Write(kept)
	if g.room -= len(p); g.room <= 0 {
		fmt.Fprintf(g.log, "\n[capsule-runtime] the rest is dropped: the log is full at %d bytes\n", maxGuestLog)
	}
	return len(p), nil
}
