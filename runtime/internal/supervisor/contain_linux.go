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
	// text is the receipt as it was last written down. What a dead supervisor
	// wrote down holds for the commands that it left.
	text json.RawMessage
	seen bool
}

// contain prepares the sandbox that the runtime asks for. A runtime that comes
// back finds the one that its commands have.
func (s *server) contain(p *containment.Profile) error {
	if p == nil {
		return nil
	}
	if err := s.contained.open(*p); err != nil {
		return err
	}
	s.runner.Contain(s.contained.sandbox)
	s.noteContained()
	return nil
}

// open is called by whoever is the one runtime.
func (c *contained) open(p containment.Profile) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sandbox != nil {
		return nil
	}
	if p.UserNamespace {
		// The kernel lets nobody but root map the users of a process whose memory
		// is closed. What is sealed off has no way to this process anyhow.
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
			return os.NewSyscallError("prctl(PR_SET_DUMPABLE)", err)
		}
	}
	sandbox, err := containment.Open(p)
	if err == nil {
		c.sandbox = sandbox
	}
	return err
}

// noteContained writes down how the commands are contained when there is
// something new to say of it: at first what is planned, then what was seen.
func (s *server) noteContained() {
	text := s.contained.news()
	if text == nil {
		return
	}
	if err := s.write(entry{Step: stepContained, Receipt: text}); err != nil {
		s.log("%v", err)
	}
}

func (c *contained) news() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sandbox == nil || c.seen {
		return nil
	}
	r := c.sandbox.Receipt()
	if r.Pending && c.text != nil {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil // A receipt is plain data.
	}
	c.text, c.seen = text, !r.Pending
	return text
}

// receipt is what records say of the commands' containment.
func (c *contained) receipt() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text
}

// recover takes over what a dead supervisor wrote down.
func (c *contained) recover(text json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = text
}

// entries are the journal's lines on containment.
func (c *contained) entries() []entry {
	if text := c.receipt(); text != nil {
		return []entry{{Step: stepContained, Receipt: text}}
	}
	return nil
}

// tell is the receipt for a runtime that does not have it yet.
func (c *contained) tell(p *peer) *containment.Receipt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.seen || c.sandbox == nil || p.toldContainment.Swap(true) {
		return nil
	}
	r := c.sandbox.Receipt()
	return &r
}

// close releases the sandbox of a supervisor that starts nothing more.
func (c *contained) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sandbox != nil {
		_ = c.sandbox.Close()
	}
}
