package jobs

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

// textLimit is how many characters of output a text shows: half from the head,
// half from the tail.
const textLimit = 16_000

const cutMarker = "\n[... output left out ...]\n"

// Text is what an operator reads about a work: how it stands, its command, and
// the head and the tail of its output. It is safe for a terminal.
func (h Handle) Text() string {
	r := h.record
	out := excerpt(sections(r.Output), textLimit)
	if out == "" {
		out = "(no output)"
	}
	return fmt.Sprintf("%s\nCommand: %s\n\nOutput:\n%s", headline(r), oneLine(r.Command), out)
}

// headline names one reason, the most telling first.
func headline(r Record) string {
	if r.State == Running || r.Outcome == nil {
		return "Background command is still running."
	}
	switch o := r.Outcome; o.Reason {
	case OwnershipLost:
		return "Background command was given up: its process could not be identified as ours, so it was neither waited for nor signalled."
	case Killed:
		return "Background command was stopped." + named(o.Survivors)
	case TimedOut:
		return fmt.Sprintf("Background command met its limit of %s.", r.MaxRuntime()) + named(o.Survivors)
	case Died:
		return "Background command was lost with its supervisor: it has no exit code." + named(o.Survivors)
	case ResultUnavailable:
		return "Background command ended, and its result is missing or was refused: it has no exit code."
	default:
		return fmt.Sprintf("Background command ended with exit code %d.", o.ExitCode)
	}
}

func named(survivors []Survivor) string {
	if len(survivors) == 0 {
		return ""
	}
	var b strings.Builder
	for i, s := range survivors {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d (%s)", s.PID, printable(s.Name))
	}
	return " Still alive: " + b.String() + "."
}

// section is a part of the output: a heading or a file.
type section struct {
	text string
	file string
	size int64
}

func sections(o Output) []section {
	var list []section
	if n := fileSize(o.StdoutPath); n > 0 {
		list = append(list, section{file: o.StdoutPath, size: n})
	}
	if n := fileSize(o.StderrPath); n > 0 {
		heading := "Stderr:\n"
		if len(list) > 0 {
			heading = "\n" + heading
		}
		list = append(list, section{text: heading, size: int64(len(heading))},
			section{file: o.StderrPath, size: n})
	}
	return list
}

// excerpt is the sections in a row, the middle cut out if they have more than
// limit characters. It reads no more than it shows.
func excerpt(list []section, limit int) string {
	var total int64
	for _, s := range list {
		total += s.size
	}
	span := int64(limit * utf8.UTFMax)
	if total <= 2*span {
		all := []rune(printable(window(list, 0, total)))
		if len(all) <= limit {
			return string(all)
		}
		return string(all[:limit/2]) + cutMarker + string(all[len(all)-limit/2:])
	}
	head := []rune(printable(window(list, 0, span)))
	tail := []rune(printable(window(list, total-span, span)))
	return string(head[:min(len(head), limit/2)]) + cutMarker + string(tail[max(0, len(tail)-limit/2):])
}

// window reads n bytes at offset from of the sections in a row.
func window(list []section, from, n int64) string {
	var b strings.Builder
	for _, s := range list {
		if from >= s.size {
			from -= s.size
			continue
		}
		part := s.read(from, min(n, s.size-from))
		b.WriteString(part)
		n -= int64(len(part))
		from = 0
	}
	return b.String()
}

func (s section) read(from, n int64) string {
	if s.file == "" {
		return s.text[from : from+n]
	}
	f, err := regular.Open(s.file)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return string(buf[:got])
}

// oneLine quotes a command text that could be taken for more than one line.
func oneLine(s string) string {
	if strings.IndexFunc(s, unicode.IsControl) >= 0 || !utf8.ValidString(s) {
		return fmt.Sprintf("%q", s)
	}
	return printable(s)
}

// printable replaces what a terminal would obey and what is no text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) {
			return r
		}
		return utf8.RuneError
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}
