package shell

import (
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

const (
	// InlineLimit is how much of each stream a result shows, in bytes. A stream
	// of so many is shown whole, however long the marks make it that stand for
	// invalid bytes.
	InlineLimit = 16384
	// maxCleaned bounds how far into a stream the search for the last state of
	// a line goes.
	maxCleaned = 4 << 20
	// maxSequence is how long an operating-system command may be; a sequence
	// that never ends must not hide all that follows.
	maxSequence = 4096
)

// Clean makes text of what a program wrote for a terminal: valid UTF-8 without
// control characters but tab and newline, and without escape sequences. Of a
// line that was overwritten by way of carriage returns the last state is kept.
// The result has at most limit bytes; cut says that there is more.
func Clean(raw []byte, limit int) (text string, cut bool) {
	c := cleaner{limit: limit}
	c.write(raw, true)
	return c.finish()
}

// inlineLimit is the limit on the text of a stream of that many bytes.
func inlineLimit(size int64) int {
	if size <= InlineLimit {
		return InlineLimit * len("\uFFFD")
	}
	return InlineLimit
}

// inline returns the head of a captured stream, cleaned, of at most limit bytes.
func inline(path string, limit int) (text string, cut bool, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	c := cleaner{limit: limit}
	cut, err = c.read(io.LimitReader(f, maxCleaned))
	text, more := c.finish()
	return text, cut || more || c.consumed == maxCleaned, err
}

// read feeds r until the text is complete; more says that r was not read to its
// end.
func (c *cleaner) read(r io.Reader) (more bool, err error) {
	buf := make([]byte, 0, 32<<10)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		c.consumed += n
		buf = buf[:len(buf)+n]
		rest := c.write(buf, err != nil)
		buf = buf[:copy(buf, rest)]
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		case c.full:
			return true, nil
		}
	}
}

// state is where a cleaner is in an escape sequence.
type state uint8

const (
	ground  state = iota
	escape        // behind ESC
	control       // in a control sequence, CSI
	text          // in a string, such as OSC
	textEnd       // behind an ESC in a string
)

// A cleaner holds the lines that are complete and the one that is being
// written.
type cleaner struct {
	limit    int
	consumed int
	done     []byte
	line     []byte
	over     bool // the line does not fit
	full     bool // a complete line did not fit: nothing can be added
	returned bool // behind a carriage return: the next character begins anew
	state    state
	length   int  // of the sequence so far
	param    byte // the last parameter byte of a control sequence
}

// write takes what it can of raw and returns the rest, a rune that is not all
// there; at the end there is no rest.
func (c *cleaner) write(raw []byte, end bool) (rest []byte) {
	for len(raw) > 0 && !c.full {
		if !end && !utf8.FullRune(raw) {
			return raw
		}
		r, size := utf8.DecodeRune(raw)
		c.rune(r)
		raw = raw[size:]
	}
	return nil
}

func (c *cleaner) finish() (string, bool) {
	return string(append(c.done, c.line...)), c.over || c.full
}

func (c *cleaner) rune(r rune) {
	switch c.state {
	case ground:
		c.plain(r)
	case escape:
		c.escape(r)
	case control:
		c.control(r)
	case text:
		c.text(r)
	case textEnd:
		c.state = ground
		if r != '\\' {
			c.begin(escape)
			c.escape(r)
		}
	}
}

func (c *cleaner) begin(s state) { c.state, c.length, c.param = s, 0, 0 }

func (c *cleaner) plain(r rune) {
	switch {
	case r == 0x1b:
		c.begin(escape)
	case r == 0x9b:
		c.begin(control)
	case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
		c.begin(text)
	case r == '\n':
		c.newline()
	case r == '\r':
		c.returned = true
	case r == '\b':
		c.backspace()
	case r == '\t' || r >= 0x20 && r < 0x7f || r >= 0xa0:
		c.put(r)
	}
}

func (c *cleaner) escape(r rune) {
	switch {
	case r == '[':
		c.begin(control)
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
		c.begin(text)
	case r >= 0x20 && r < 0x30: // an intermediate: one more follows
	default:
		c.leave(r, r >= 0x30 && r < 0x7f)
	}
}

func (c *cleaner) control(r rune) {
	switch {
	case r >= 0x20 && r < 0x40 && c.length < maxSequence:
		c.param, c.length = byte(r), c.length+1
	case r == 'K':
		// Erasing is what programs do before they write a line anew.
		if c.returned || c.param == '2' {
			c.erase()
		}
		c.state = ground
	default:
		c.leave(r, r >= 0x40 && r < 0x7f)
	}
}

func (c *cleaner) text(r rune) {
	c.length++
	switch {
	case r == 0x07 || r == 0x9c || r == 0x18 || r == 0x1a:
		c.state = ground
	case r == 0x1b:
		c.state = textEnd
	case r == '\n' || c.length > maxSequence:
		c.leave(r, false)
	}
}

// leave ends a sequence. A rune that is not its last one counts by itself.
func (c *cleaner) leave(r rune, last bool) {
	c.state = ground
	if !last {
		c.plain(r)
	}
}

func (c *cleaner) put(r rune) {
	if c.returned {
		c.erase()
	}
	if c.over || len(c.done)+len(c.line)+utf8.RuneLen(r) > c.limit {
		c.over = true
		return
	}
	c.line = utf8.AppendRune(c.line, r)
}

func (c *cleaner) erase() { c.line, c.over, c.returned = c.line[:0], false, false }

func (c *cleaner) backspace() {
	if !c.over && !c.returned {
		_, size := utf8.DecodeLastRune(c.line)
		c.line = c.line[:len(c.line)-size]
	}
}

func (c *cleaner) newline() {
	c.done = append(c.done, c.line...)
	c.full = c.over || len(c.done) == c.limit
	if !c.full {
		c.done = append(c.done, '\n')
	}
	c.erase()
	c.over = c.full
	c.done = slices.Clip(c.done)
}
