package runtime

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// An Event is one line of a session's trace.
type Event = trace.Event

// A traceSink adds events to the trace and passes them on, in one order for
// both.
type traceSink struct {
	mu      sync.Mutex
	session string
	w       *trace.Writer
	notify  func(Event)
	log     io.Writer
	warned  bool
}

// append adds e, or says why it could not.
func (t *traceSink) append(e Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.SessionID, e.Timestamp = t.session, time.Now().UnixMilli()
	err := t.w.Append(e)
	if t.notify != nil {
		t.notify(e)
	}
	return err
}

// add adds e where a trace that cannot be written must not stop the session:
// the operator is told, once.
func (t *traceSink) add(e Event) {
	if err := t.append(e); err != nil && !t.warned {
		t.warned = true
		fmt.Fprintf(t.log, "[capsule-runtime] cannot write the trace: %v\n", err)
	}
}
