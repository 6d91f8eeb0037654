package runtime

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/host"
)

// Bounds on what a plain command's streams may hold: more than a result or the
// tail of an error message needs, little enough to keep in memory.
const (
	maxCommandResult = 16 << 20
	commandErrorTail = 4 << 10
)

// A commandWorker runs a plain WASI command, once per task: the message on
// standard input, the result on standard output.
type commandWorker struct{ s *Session }

func (w *commandWorker) run(ctx context.Context, t *task) outcome {
	stdout := &boundedBuffer{limit: maxCommandResult}
	stderr := &tailBuffer{limit: commandErrorTail}
	inst, err := w.s.instantiate(ctx, host.InstanceConfig{
		Env:    taskEnv(t),
		Stdin:  strings.NewReader(t.message),
		Stdout: stdout,
		Stderr: io.MultiWriter(stderr, w.s.guestLog),
	})
	if err != nil {
		return broken(err)
	}
	defer w.s.closeInstance(inst)
	code, err := inst.RunCommand(ctx)
	switch {
	case err != nil:
		return broken(err)
	case code != 0:
		return answered(commandError(code, stderr.String()), true)
	case stdout.over:
		return answered(fmt.Sprintf("the result on standard output is over %d bytes", maxCommandResult), true)
	}
	return answered(validText(stdout.buf.String()), false)
}

func (w *commandWorker) close() {}

// taskEnv tells a plain command what the handler gets as a record.
func taskEnv(t *task) []string {
	return []string{
		"MURMUR_TASK_ID=" + t.id,
		"MURMUR_TASK_CONTEXT_ID=" + t.contextID,
		"MURMUR_TASK_ORIGIN=" + t.prov.Origin().String(),
		"MURMUR_TASK_TRUST=" + t.prov.Trust().String(),
	}
}

func commandError(code int, tail string) string {
	text := fmt.Sprintf("the command exited with code %d", code)
	if tail = strings.TrimSpace(validText(tail)); tail != "" {
		text += "\n" + tail
	}
	return text
}

// validText replaces bytes that are not UTF-8: a result is a string.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// A boundedBuffer keeps the first limit bytes and swallows the rest, so that a
// guest that never stops writing costs no memory.
type boundedBuffer struct {
	buf   bytes.Buffer
	limit int
	over  bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.buf.Len(); len(p) > room {
		b.over = true
		b.buf.Write(p[:room])
		return len(p), nil
	}
	return b.buf.Write(p)
}

// A tailBuffer keeps the last limit bytes.
type tailBuffer struct {
	buf   []byte
	limit int
}

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.buf = append(b.buf, p...)
	if over := len(b.buf) - b.limit; over > 0 {
		b.buf = append(b.buf[:0], b.buf[over:]...)
	}
	return len(p), nil
}

// String is the tail, from the start of a rune on.
func (b *tailBuffer) String() string {
	tail := b.buf
	for i := 0; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	return string(tail)
}
