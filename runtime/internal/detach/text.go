package detach

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

const (
	// maxCommand is how much of a command's text a report shows, in bytes.
	maxCommand = 1 << 10
	// maxNamed is how many processes a line names.
	maxNamed = 16
)

// A text is a report being written. Every field goes through field or one of
// the methods below it, so that no value can forge a line.
type text struct{ strings.Builder }

func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

func (t *text) field(name, value string) { t.line("%s: %s", name, shell.Quote(value)) }

// optional is field for a value that is not always there.
func (t *text) optional(name, value string) {
	if value != "" {
		t.field(name, value)
	}
}

// work names the work.
func (t *text) work(id, binary, command string) {
	t.field("work_id", id)
	t.field("binary", binary)
	t.field("command", cut(command))
}

// output tells where the log is, or why there is none.
func (t *text) output(l Log) {
	if l.Err != nil {
		t.line("output: none (%s)", shell.Quote("cannot be written: "+l.Err.Error()))
		return
	}
	t.line("output: %s (%d bytes, in the capsule workdir)", shell.Quote(l.Path), l.Bytes)
}

// circumstances are the lines that stand only where they apply.
func (t *text) circumstances(e shell.Exit) {
	t.optional("reason", string(e.Reason))
	if e.Limit != "" {
		t.line("%s", shell.ResourceLimitLine(e.Limit))
	}
	t.optional("left_running", processes(e.LeftRunning))
	t.optional("survivors", processes(e.Survivors))
	t.optional("wait_error", e.WaitErr)
}

// processes names processes in one line. A name is the process's own choice:
// one that is not plain is quoted, or it could pass for two.
func processes(all []shell.Survivor) string {
	var named []string
	for i, p := range all {
		if i == maxNamed {
			named = append(named, fmt.Sprintf("and %d more", len(all)-maxNamed))
			break
		}
		named = append(named, fmt.Sprintf("%s (pid %d)", plainName(p.Name), p.PID))
	}
	return strings.Join(named, ", ")
}

func plainName(name string) string {
	unusual := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._+-/:@", r))
	}
	if name == "" || strings.ContainsFunc(name, unusual) {
		return fmt.Sprintf("%+q", name)
	}
	return name
}

// cut shortens a command to what a report shows, on the boundary of a rune.
func cut(command string) string {
	if len(command) <= maxCommand {
		return command
	}
	end := maxCommand - len("…")
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(command[end]); back++ {
		end--
	}
	return command[:end] + "…"
}

// commands is "1 background shell command" or "2 background shell commands".
func commands(n int) string {
	if n == 1 {
		return "1 background shell command"
	}
	return fmt.Sprintf("%d background shell commands", n)
}
