package runtime

import (
	"io"
	"iter"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// A TraceLine is one line of a trace: an event, or the error that it is none.
type TraceLine = trace.Line

// ErrTornLine is the error of a last line that was not written to its end, as a
// crash leaves it.
var ErrTornLine = trace.ErrTorn

// TraceLines reads a trace line by line. It holds one line at a time, and goes
// on after a line that is no event.
func TraceLines(r io.Reader) iter.Seq[TraceLine] { return trace.Lines(r) }
