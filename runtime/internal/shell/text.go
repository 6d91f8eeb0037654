package shell

import (
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
)

// Quote is value as it stands in a field line of a report: as it is if it is
// printable, else quoted as Go quotes strings. A value can so never end its
// line and forge another field.
func Quote(value string) string {
	for _, r := range value {
		if !strconv.IsPrint(r) || r == '\uFFFD' {
			return strconv.Quote(value)
		}
	}
	return value
}

// CommandText is a command as its guest wrote it: the text of command, or else
// the arguments, quoted for a shell.
func CommandText(command string, args []string) string {
	if command != "" {
		return command
	}
	return shellquote.Join(args...)
}

// ResourceLimitLine is the field line that names a limit, in reports and in
// foreground results alike.
func ResourceLimitLine(limit string) string {
	return "resource_limit: " + Quote(strings.TrimSpace(limit))
}
