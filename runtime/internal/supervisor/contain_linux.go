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
	mu sync.Mutex
	// ready is closed once sandbox or err is there; nil stands for no
	// containment.
	ready   chan struct{}
	err     error
	sandbox *containment.Sandbox
	// text is the receipt as it was last written down. What a dead supervisor
	// wrote down holds for the commands that it left.
	text json.RawMessage
	seen bool
}

// contain begins to prepare the sandbox that the runtime asks for: it is not
// waited for with the welcome. A runtime that comes back finds the one that its
// commands have.
func (s *server) contain(p *containment.Profile) {
	if p == nil || !s.contained.begin() {
		return
	}
	go func() {
		sandbox, err := openSandbox(*p)
		if err == nil {
			s.runner.Contain(sandbox)
		}
		s.contained.set(sandbox, err)
		s.noteContained()
	}()
}

func (c *contained) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready != nil {
		return false
	}
	c.ready = make(chan struct{})
	return true
}

func (c *contained) set(sandbox *containment.Sandbox, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sandbox, c.err = sandbox, err
	close(c.ready)
}

// await returns once commands can be started. An error means that they cannot.
func (c *contained) await() error {
	c.mu.Lock()
	ready := c.ready
	c.mu.Unlock()
	if ready == nil {
		return nil
	}
	<-ready
	return c.err
}

func openSandbox(p containment.Profile) (*containment.Sandbox, error) {
	if p.UserNamespace {
		// The kernel lets nobody but root map the users of a process whose memory
		// is closed. What is sealed off has no way to this process anyhow.
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
			return nil, os.NewSyscallError("prctl(PR_SET_DUMPABLE)", err)
		}
	}
	return containment.Open(p)
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
	_ = c.await()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sandbox != nil {
		_ = c.sandbox.Close()
	}
}
