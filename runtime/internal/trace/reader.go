package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

// A Line is one line of a trace as it was read.
type Line struct {
	// Number counts from 1.
	Number int
	// Raw is the line as it is in the file, without its newline. It is nil for
	// a line over [MaxLine].
	Raw []byte
	// Event is the line's event, if Err is nil.
	Event Event
	// Err is why the line is no event. It is [ErrTorn] for an unfinished last
	// line, which a crash leaves behind and which is no fault of the trace.
	Err error
}

// ErrTorn is the error of a last line that was not written to its end.
var ErrTorn = errors.New("the last line is torn")

var errTooLong = fmt.Errorf("over %d bytes long", MaxLine)

// A readError is a failure of the file itself, not of a line's content.
type readError struct{ cause error }

func (e *readError) Error() string { return "cannot read on: " + e.cause.Error() }
func (e *readError) Unwrap() error { return e.cause }

// Lines reads a trace line by line, holding one line at a time in memory. A
// line that is no event is yielded with its error and reading goes on; only a
// failure of r itself, yielded in the same way, ends it. Empty lines are passed
// over.
func Lines(r io.Reader) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		buffered := bufio.NewReaderSize(r, 64<<10)
		for number := 1; ; number++ {
			raw, whole, err := readLine(buffered)
			if line, ok := parseLine(number, raw, whole, err); ok && !yield(line) {
				return
			}
			if err != nil && !errors.Is(err, errTooLong) {
				return
			}
		}
	}
}

// readLine reads up to and including the next newline. A line over MaxLine is
// skipped without being kept, and is errTooLong.
func readLine(r *bufio.Reader) (raw []byte, whole bool, err error) {
	for long := false; ; {
		piece, err := r.ReadSlice('\n')
		if long = long || len(raw)+len(piece) > MaxLine; long {
			raw = nil
		} else {
			raw = append(raw, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, err == nil, errors.Join(errTooLong, err)
		default:
			return bytes.TrimSuffix(raw, []byte{'\n'}), err == nil, err
		}
	}
}

// parseLine turns what readLine gave into a Line; ok is false where there is
// nothing to tell.
func parseLine(number int, raw []byte, whole bool, err error) (line Line, ok bool) {
	line = Line{Number: number, Raw: raw}
	switch {
	case errors.Is(err, errTooLong):
		line.Err = errTooLong
		return line, true
	case err != nil && !errors.Is(err, io.EOF):
		line.Err = &readError{err}
		return line, true
	case len(bytes.TrimSpace(raw)) == 0:
		return line, false
	}
	line.Event, line.Err = decode(raw)
	if line.Err != nil && !whole {
		line.Err = ErrTorn
	}
	return line, true
}

func decode(raw []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return Event{}, fmt.Errorf("not an event: %w", err)
	}
	if e.Type == "" {
		return Event{}, errors.New("not an event: it has no event_type")
	}
	return e, nil
}

// A Problem is a line of a trace that could not be read.
type Problem struct {
	// Line counts from 1.
	Line int
	// Err is why.
	Err error
}

// Error names the line.
func (p Problem) Error() string { return fmt.Sprintf("line %d: %v", p.Line, p.Err) }

// Unwrap is the cause.
func (p Problem) Unwrap() error { return p.Err }

// Events reads a whole trace: its events, and the lines that are none. A torn
// last line is neither. The caller bounds what r may hold; [Lines] needs no
// bound.
func Events(r io.Reader) (events []Event, problems []Problem) {
	for line := range Lines(r) {
		switch {
		case line.Err == nil:
			events = append(events, line.Event)
		case !errors.Is(line.Err, ErrTorn):
			problems = append(problems, Problem{line.Number, line.Err})
		}
	}
	return events, problems
}

// ReadFile is [Events] on the file at path. The error is that of opening it.
func ReadFile(path string) ([]Event, []Problem, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the trace: %w", err)
	}
	defer file.Close()
	events, problems := Events(file)
	return events, problems, nil
}
