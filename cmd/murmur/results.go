package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/murmur-capsule/murmur/runtime"
)

// results prints what came of tasks.
type results struct {
	w        io.Writer
	json     bool
	terminal bool
	// broken is called once if the results cannot be written; the rest of them
	// is dropped.
	broken func(error)
	failed bool
}

// show prints one result: as a line of JSON, or the guest's answer as it is.
// Where people read it, what would act on their terminal is made visible.
func (r *results) show(res runtime.TaskResult) {
	if r.failed {
		return
	}
	text, ok := r.text(res)
	if !ok {
		return
	}
	if _, err := io.WriteString(r.w, text); err != nil {
		r.failed = true
		r.broken(err)
	}
}

func (r *results) text(res runtime.TaskResult) (text string, ok bool) {
	if r.json {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(res); err != nil {
			panic("internal error: cannot encode a result: " + err.Error())
		}
		return b.String(), true
	}
	if res.Status != runtime.StatusOK {
		return "", false // told on standard error
	}
	text = res.Result
	if r.terminal {
		text = printableText(text)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text, true
}

// terminalWriter is w, made safe where it is a terminal.
func terminalWriter(w io.Writer, s style) io.Writer {
	if !s.terminal {
		return w
	}
	return writerFunc(func(text []byte) { _, _ = io.WriteString(w, printableText(string(text))) })
}
