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

// KeptText is [Request.Text] as records and traces keep it: a command text whole,
// of arguments that are longer than one may be the head.
func (r Request) KeptText() string { return cut(r.Text(), MaxArgument) }

// CommandText is the command as reports show it: [Request.Text], cut at 1 KiB.
// It is still to be quoted.
func CommandText(r Request) string { return Shown(r.Text()) }

// Shown is the text of a command cut at 1 KiB, as reports show it. It is still
// to be quoted.
func Shown(command string) string { return cut(command, maxReported) }

// cut shortens s to limit bytes at a rune boundary, and says so.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	end := limit - len(mark)
	for back := 1; back < utf8.UTFMax && !utf8.RuneStart(s[end]); back++ {
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

// maxListed is how many processes a line names.
const maxListed = 16

// SurvivorList shows processes on one line, the first sixteen by name.
func SurvivorList(procs []Survivor) string {
	var names []string
	for _, p := range procs[:min(len(procs), maxListed)] {
		names = append(names, fmt.Sprintf("%s (pid %d)", processName(p.Name), p.PID))
	}
	if more := len(procs) - maxListed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// processName is a name that its process chose: one that is not plain is
// quoted, or it could pass for several.
func processName(name string) string {
	if name == "" || strings.Trim(name, plainName) != "" {
		return strconv.QuoteToASCII(name)
	}
	return name
}

const plainName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/:@"

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
