package supervisor

import (
	"encoding/json"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
)

// contained is how a supervisor's commands are contained. The zero value stands
// for commands that are not.
type contained struct {
	mu      sync.Mutex
	sandbox *containment.Sandbox
	// receipt is the sandbox's as it was last written down. What a dead
	// supervisor wrote down holds for the commands that it left.
	receipt json.RawMessage
	seen    bool
}

// contain prepares the sandbox that the runtime asks for. A runtime that comes
// back finds the one that its commands have.
func (s *server) contain(p *containment.Profile) error {
	if p == nil {
		return nil
	}
	s.contained.mu.Lock()
	defer s.contained.mu.Unlock()
	if s.contained.sandbox != nil {
		return nil
	}
	if err := p.showSelf(); err != nil {
		return err
	}
	sandbox, err := containment.Open(*p)
	if err != nil {
		return err
	}
	s.contained.sandbox = sandbox
	s.runner.Contain(sandbox)
	return s.writeReceipt(sandbox.Receipt())
}
