package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

// MaxLine is the greatest length of a line in bytes, its newline included. A
// command text of the kernel's longest argument fits, escaped at its worst.
const MaxLine = 1 << 20

// Options configure a [Writer]. The zero value is ready to use.
type Options struct {
	// Sync flushes every line to the disk before Append returns.
	Sync bool
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
}

// A Writer appends events to one session's trace. It is safe for concurrent
// use, and several of them, of several processes, may append to one file.
type Writer struct {
	session string
	opts    Options

	mu   sync.Mutex
	file *os.File
	// torn says that the file ends in the middle of a line: the next line must
	// start with a newline of its own, or both would be unreadable.
	torn bool
}

// Open opens the trace at path for appending, making it if it is not there.
// The events it writes are of the given session.
func Open(path, session string, o Options) (*Writer, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	file, err := regular.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open the trace: %w", err)
	}
	torn, err := endsTorn(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot open the trace: %w", err), file.Close())
	}
	return &Writer{session: session, opts: o, file: file, torn: torn}, nil
}

// endsTorn says whether the file ends without a newline, as it does after a
// crash in the middle of a write.
func endsTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%s is not a regular file", file.Name())
	}
	if info.Size() == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return last[0] != '\n', nil
}

// Stamp is e as Append writes it: of the writer's session, and of this moment
// where it has no timestamp.
func (w *Writer) Stamp(e Event) Event {
	e.SessionID = w.session
	if e.Timestamp == 0 {
		e.Timestamp = w.opts.Now().UnixMilli()
	}
	return e
}

// Append writes e as one line, stamped, in one write. After an error the event is not in the trace, or
// only a torn piece of it, which the next Append sets apart.
func (w *Writer) Append(e Event) error {
	line, err := encode(w.Stamp(e))
	if err != nil {
		return fmt.Errorf("cannot write %s to the trace: %w", e.Type, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.write(line); err != nil {
		return fmt.Errorf("cannot write %s to the trace: %w", e.Type, err)
	}
	return nil
}

func (w *Writer) write(line []byte) error {
	if w.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := w.file.Write(line)
	if err != nil {
		w.torn = w.torn || n > 0
		return err
	}
	w.torn = false
	if w.opts.Sync {
		return w.file.Sync()
	}
	return nil
}

// Sync flushes what was appended to the disk.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.file.Sync()
}

// Close closes the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.file.Close()
}

// shortCommand is what is kept of a command that makes its line too long, as
// the arguments of a command can: the event matters more than the text.
const shortCommand = 1 << 10

// encode is e as a line. Commands are full of <, > and &, so these are not
// escaped.
func encode(e Event) ([]byte, error) {
	if e.Type == "" {
		return nil, errors.New("the event has no type")
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	if buf.Len() > MaxLine && len(e.Command) > shortCommand {
		e.Command = strings.ToValidUTF8(e.Command[:shortCommand-len("…")], "") + "…"
		return encode(e)
	}
	if buf.Len() > MaxLine {
		return nil, fmt.Errorf("a line of %d bytes is over the limit of %d", buf.Len(), MaxLine)
	}
	return buf.Bytes(), nil
}
