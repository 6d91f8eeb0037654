package detach

import (
	"fmt"
	"strings"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
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
	t.field("command", shell.Shown(command))
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
	t.optional("left_running", shell.SurvivorList(e.LeftRunning))
	t.optional("survivors", shell.SurvivorList(e.Survivors))
	t.optional("wait_error", e.WaitErr)
}

// commands is "1 background shell command" or "2 background shell commands".
func commands(n int) string {
	if n == 1 {
		return "1 background shell command"
	}
	return fmt.Sprintf("%d background shell commands", n)
}
