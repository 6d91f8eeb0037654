package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain, 日本 😀": "plain, 日本 😀", "a\nb\tc": `a\nb\tc`, "\x1b[31m": `\x1b[31m`, "\u202e": `\u202e`, "\xff": "\ufffd", "": "",
	} {
		assert.Equal(t, want, printable(in))
	}
	assert.Equal(t, "a\n\tb\\x1b\n", printableText("a\n\tb\x1b\n"))
	assert.Equal(t, "", printableText(""))
}

func TestJSONText(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"日本 😀 \u001b"}` + "\n": `{"a":"日本 😀 \u001b"}` + "\n",
		"\u009b31m":                  `\u009b31m`,
		"\x7f\u202e":                 `\u007f\u202e`,
		"\U000e0041x":                `\udb40\udc41x`,
	} {
		assert.Equal(t, want, jsonText(in))
	}
	var out strings.Builder
	require.NoError(t, encodeLine(&out, map[string]string{"k<": "a\u009b\U000e0041\x1b"}))
	assert.Equal(t, `{"k<":"a\u009b\udb40\udc41\u001b"}`+"\n", out.String())
}

func TestTerminalWriter(t *testing.T) {
	var out strings.Builder
	w := terminalWriter(&out, style{terminal: true})
	for _, piece := range []string{"a\xe6", "\x97", "\xa5\x1b[31m", "\xff", "\xf0\x9f", "b\n"} {
		n, err := w.Write([]byte(piece))
		require.NoError(t, err)
		assert.Equal(t, len(piece), n)
	}
	assert.Equal(t, "a日\\x1b[31m\ufffd\ufffd\ufffdb\n", out.String())

	out.Reset()
	_, err := terminalWriter(&out, style{}).Write([]byte("\x1b[31m"))
	require.NoError(t, err)
	assert.Equal(t, "\x1b[31m", out.String(), "a file gets what was written")
}

func TestOneLine(t *testing.T) {
	joined := errors.Join(errors.New("first\n"), fmt.Errorf("second: %w", errors.New("\x1b[0m")))
	assert.Equal(t, `first; second: \x1b[0m`, oneLine(joined.Error()))
}

func TestStyleFor_AFileIsNoTerminal(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer file.Close()
	assert.Equal(t, style{}, styleFor(file))

	// The null device is a device of characters, as terminals are.
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	for _, c := range []struct {
		noColour, term string
		want           bool
	}{{"", "xterm", true}, {"1", "xterm", false}, {"", "dumb", false}} {
		t.Setenv("NO_COLOR", c.noColour)
		t.Setenv("TERM", c.term)
		assert.Equal(t, c.want, styleFor(null).colour, "%+v", c)
	}
}

func TestReport(t *testing.T) {
	var out strings.Builder
	a := &app{stderr: &out}
	a.report(asFailure(errors.New("it is broken\nreally")))
	a.report(asFailure(usage("mend it", "wrong: %d", 3)))
	a.report(&failure{code: exitFailed})
	a.warn("odd\x1b")
	assert.Equal(t, `murmur: error: it is broken; really
murmur: error: wrong: 3
murmur: hint: mend it
murmur: warning: odd\x1b
`, out.String())
}

func TestAsFailure(t *testing.T) {
	assert.Equal(t, exitUsage, asFailure(errors.New("x")).code)
	assert.Equal(t, exitFailed, asFailure(&failure{code: exitFailed}).code)
	f := asFailure(errors.Join(&failure{errors.New("task"), "hint", exitFailed}, errors.New("trace")))
	assert.Equal(t, exitFailed, f.code)
	assert.Equal(t, "hint", f.hint)
	assert.Equal(t, "task; trace", oneLine(f.Error()))
	assert.Equal(t, "exit code 1", (&failure{code: exitFailed}).Error())
}

func TestHintFor(t *testing.T) {
	assert.Contains(t, hintFor(fmt.Errorf("task 2: %w", runtime.ErrSessionEnded)), "--until-idle")
	assert.Contains(t, hintFor(fs.ErrPermission), "ls -ld")
	assert.Empty(t, hintFor(errors.New("anything")))
}

func TestResults_TextAndTerminal(t *testing.T) {
	ok := runtime.TaskResult{Status: runtime.StatusOK, Result: "a\x1b[31m\nb"}
	var out strings.Builder
	r := &results{w: &out}
	r.show(ok)
	r.terminal = true
	r.show(ok)
	r.show(runtime.TaskResult{Status: runtime.StatusOK, Result: "ends\n"})
	r.show(runtime.TaskResult{Status: runtime.StatusError, Result: "not here"})
	assert.Equal(t, "a\x1b[31m\nb\na\\x1b[31m\nb\nends\n", out.String())
}

func TestResults_JSONHasItsFieldsAndNoOthers(t *testing.T) {
	var out strings.Builder
	r := &results{w: &out, json: true}
	r.show(runtime.TaskResult{TaskID: "tsk_1", ContextID: "ctx_1", Source: "cli", Status: runtime.StatusError, Result: "<&>", Repeated: true, ShellCalls: 3})
	assert.Equal(t, `{"task_id":"tsk_1","context_id":"ctx_1","source":"cli","origin":"event","trust":"untrusted","status":"error","result":"<&>"}`+"\n", out.String())
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestResults_ABrokenReaderIsToldOnce(t *testing.T) {
	broken := errors.New("broken pipe")
	var told []error
	r := &results{w: brokenWriter{broken}, json: true, broken: func(err error) { told = append(told, err) }}
	r.show(runtime.TaskResult{})
	r.show(runtime.TaskResult{})
	assert.Equal(t, []error{broken}, told)
}

func TestPrinter_KeepsOrderAndFlushes(t *testing.T) {
	var out strings.Builder
	p := newPrinter()
	buffer := []byte("x")
	w := p.writer(&out)
	for i := range 1000 {
		buffer[0] = byte('a' + i%26)
		_, err := w.Write(buffer)
		require.NoError(t, err)
	}
	p.close()
	assert.Equal(t, strings.Repeat("abcdefghijklmnopqrstuvwxyz", 39)[:1000], out.String())
}
