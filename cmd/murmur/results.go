package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

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
		if err := encodeLine(&b, res); err != nil {
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

// encodeLine writes v as a line of JSON.
func encodeLine(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, jsonText(b.String()))
	return err
}

// terminalWriter is w, made safe where it is a terminal. A character that comes
// in two pieces is shown when it is whole.
func terminalWriter(w io.Writer, s style) io.Writer {
	if !s.terminal {
		return w
	}
	var rest []byte
	return writerFunc(func(text []byte) {
		text = append(rest, text...)
		rest = bytes.Clone(cutRune(text))
		_, _ = io.WriteString(w, printableText(string(text[:len(text)-len(rest)])))
	})
}

// cutRune is the character at the end of text that lacks its last bytes.
func cutRune(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return nil
			}
			return tail
		}
	}
	return nil
}
