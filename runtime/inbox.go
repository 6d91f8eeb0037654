package runtime

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/unixsock"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

const (
	inboxName = "inbox.sock"
	// maxLetter bounds what is read of one request: a message, every byte of it
	// escaped at its worst, fits.
	maxLetter = maxPendingFile
	// letterTime bounds how long a peer may take over one request.
	letterTime = 30 * time.Second
	// maxPeers bounds how many are served at once, and with it what their letters
	// may take of memory. While more wait, those who are served have hurryTime
	// left: nobody who connects and is silent shuts others out.
	maxPeers  = 16
	hurryTime = time.Second / 2
	// acceptPause is how long to wait for descriptors, where there are none.
	acceptPause = 50 * time.Millisecond
)

// A letter is a task that another process of the same user hands to a session
// through the socket in its directory: one line of JSON, answered by another.
type letter struct {
	Origin    string `json:"origin"`
	Message   string `json:"message"`
	ContextID string `json:"context_id,omitempty"`
}

// A receipt answers a letter.
type receipt struct {
	TaskID string `json:"task_id,omitempty"`
	// Refused says why the session does not admit the task; Error says why it
	// could not be asked.
	Refused string `json:"refused,omitempty"`
	Error   string `json:"error,omitempty"`
}

// An inbox takes letters for its session.
type inbox struct {
	s        *Session
	listener *net.UnixListener
	serving  sync.WaitGroup
	places   chan struct{}

	mu    sync.Mutex
	conns map[net.Conn]bool
	shut  bool
}

func (s *Session) openInbox() error {
	l, err := unixsock.Listen(s.dir, inboxName)
	if err != nil {
		return fmt.Errorf("cannot listen for tasks: %w", err)
	}
	s.inbox = &inbox{s: s, listener: l, places: make(chan struct{}, maxPeers), conns: map[net.Conn]bool{}}
	s.inbox.serving.Go(s.inbox.serve)
	return nil
}

func (b *inbox) serve() {
	for {
		conn, err := b.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(acceptPause)
			continue
		}
		b.enter()
		if !b.hold(conn) {
			<-b.places
			continue
		}
		b.serving.Go(func() {
			defer func() { <-b.places }()
			defer b.drop(conn)
			b.answer(conn)
		})
	}
}

// enter waits for a place.
func (b *inbox) enter() {
	select {
	case b.places <- struct{}{}:
		return
	default:
	}
	b.mu.Lock()
	for conn := range b.conns {
		_ = conn.SetDeadline(time.Now().Add(hurryTime))
	}
	b.mu.Unlock()
	b.places <- struct{}{}
}

func (b *inbox) hold(conn net.Conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		_ = conn.Close()
		return false
	}
	_ = conn.SetDeadline(time.Now().Add(letterTime))
	b.conns[conn] = true
	return true
}

func (b *inbox) drop(conn net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, conn)
	_ = conn.Close()
}

func (b *inbox) answer(conn net.Conn) {
	if unixsock.CheckPeer(conn) != nil {
		return
	}
	_ = json.NewEncoder(conn).Encode(b.receive(conn))
}

func (b *inbox) receive(r io.Reader) receipt {
	l, err := readLetter(r)
	if err != nil {
		return receipt{Error: err.Error()}
	}
	origin, err := provenance.ParseOrigin(l.Origin)
	if err != nil {
		return receipt{Error: err.Error()}
	}
	// A session takes from outside what an outside caller can be the origin of:
	// completions are the runtime's own.
	if origin == provenance.Completion {
		return receipt{Error: "a completion cannot be sent"}
	}
	ticket, err := b.s.Submit(b.s.ctx, Task{
		Origin: origin, Message: l.Message, ContextID: l.ContextID, Source: SourceCLI,
	})
	if refused := (*RefusedError)(nil); errors.As(err, &refused) {
		return receipt{Refused: refused.Why.Error()}
	}
	if err != nil {
		return receipt{Error: err.Error()}
	}
	return receipt{TaskID: ticket.TaskID()}
}

// readLetter reads one line.
func readLetter(r io.Reader) (l letter, err error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxLetter)).ReadBytes('\n')
	if err != nil {
		return l, errors.New("the request is too long, or cut short")
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return l, fmt.Errorf("the request is not understood: %w", err)
	}
	if l.ContextID != "" && !ids.Context.Valid(l.ContextID) {
		return l, errors.New("context_id is not the id of a context")
	}
	return l, nil
}

func (b *inbox) close() {
	b.mu.Lock()
	b.shut = true
	for conn := range b.conns {
		_ = conn.Close()
	}
	b.mu.Unlock()
	_ = b.listener.Close()
	b.serving.Wait()
	_ = os.Remove(filepath.Join(b.s.dir, inboxName))
}

// ErrNotRunning says that no process runs the session.
var ErrNotRunning = errors.New("the session is not running")

// Send hands a task to a session that another process runs, and returns the
// task's id. A [*RefusedError] says that the session does not admit it now.
func Send(ctx context.Context, session SessionInfo, t Task) (string, error) {
	conn, err := unixsock.Dial(session.Dir, inboxName)
	if errors.Is(err, unixsock.ErrNobody) {
		return "", ErrNotRunning
	}
	if err != nil {
		return "", fmt.Errorf("cannot reach the session: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var r receipt
	err = json.NewEncoder(conn).Encode(letter{Origin: t.Origin.String(), Message: t.Message, ContextID: t.ContextID})
	if err == nil {
		err = json.NewDecoder(io.LimitReader(conn, maxLetter)).Decode(&r)
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", fmt.Errorf("the session did not answer: %w", err)
	case r.Refused != "":
		return "", &RefusedError{Why: errors.New(r.Refused)}
	case r.Error != "":
		return "", errors.New(r.Error)
	}
	return r.TaskID, nil
}
