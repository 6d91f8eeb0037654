package shell

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kballard/go-shellquote"
)

// maxReported is how much of a command text a report shows, in bytes.
const maxReported = 1 << 10

// Text is the command as the guest wrote it, or its binary and arguments quoted
// for a shell.
func (r Request) Text() string {
	if r.Args == nil {
		return r.Command
	}
	return shellquote.Join(append([]string{r.Binary}, r.Args...)...)
}

// CommandText is the command as reports show it: [Request.Text], cut at 1 KiB.
// It is still to be quoted.
func CommandText(r Request) string { return cut(r.Text(), maxReported) }

// cut shortens s to limit bytes at a rune boundary, and says so.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	end := limit - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// Quote returns value as it is shown behind the name of a field: as it is, or
// quoted like a Go string if it holds anything but printable characters, so that
// no value can look like another field.
func Quote(value string) string {
	if value == "" || !utf8.ValidString(value) || strings.ContainsFunc(value, unprintable) {
		return strconv.Quote(value)
	}
	return value
}

func unprintable(r rune) bool { return !strconv.IsPrint(r) }

// ResourceLimitLine is the line by which reports and foreground results name the
// resource limit that a command met.
func ResourceLimitLine(limit string) string { return "resource_limit: " + Quote(limit) }

// SurvivorList shows processes on one line.
func SurvivorList(procs []Survivor) string {
	names := make([]string, len(procs))
	for i, p := range procs {
		names[i] = fmt.Sprintf("%s (pid %d)", Quote(p.Name), p.PID)
	}
	return strings.Join(names, ", ")
}

// words splits a command text by the quoting rules of POSIX. Nothing is
// expanded, and no character but blank, tab, newline, backslash and the two
// quotes means anything.
func words(text string) ([]string, error) {
	list, err := shellquote.Split(text)
	if err != nil {
		return nil, fieldError("command", "%s", strings.ToLower(err.Error()))
	}
	return list, nil
}
