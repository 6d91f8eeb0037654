package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/murmur-capsule/murmur/host"
)

// A witPrinter writes the imports and exports of a component as WIT does in a
// world.
type witPrinter struct {
	w      io.Writer
	indent string
	// note says what stands behind an import; it may be nil.
	note func(name string) string
}

// all writes externs, each behind the word import or export.
func (p witPrinter) all(word string, externs []host.Extern) {
	for _, x := range externs {
		note := ""
		if p.note != nil {
			note = p.note(x.Name)
		}
		p.one(word, x, note)
	}
}

func (p witPrinter) one(word string, x host.Extern, note string) {
	if note != "" {
		note = "  // " + note
	}
	switch {
	case x.Kind != "instance":
		fmt.Fprintf(p.w, "%s%s %s;%s\n", p.indent, word, printable(x.Text), note)
	case len(x.Items) == 0:
		fmt.Fprintf(p.w, "%s%s %s;%s\n", p.indent, word, printable(x.Name), note)
	default:
		fmt.Fprintf(p.w, "%s%s %s {%s\n", p.indent, word, printable(x.Name), note)
		p.items(x.Items)
		fmt.Fprintf(p.w, "%s}\n", p.indent)
	}
}

func (p witPrinter) items(items []host.Extern) {
	for _, it := range items {
		end := ";"
		if strings.HasSuffix(it.Text, "}") {
			end = ""
		}
		fmt.Fprintf(p.w, "%s  %s%s\n", p.indent, printable(it.Text), end)
	}
}
