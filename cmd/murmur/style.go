package main

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A style says how text may look: plain, or with colours on a terminal.
type style struct {
	terminal bool
	colour   bool
}

// styleFor is the style of f: colours on a terminal that knows them, unless
// NO_COLOR is set.
func styleFor(f *os.File) style {
	info, err := f.Stat()
	terminal := err == nil && info.Mode()&fs.ModeCharDevice != 0
	return style{terminal, terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (s style) paint(code, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) good(text string) string { return s.paint("32", text) }
func (s style) bad(text string) string  { return s.paint("31", text) }
func (s style) odd(text string) string  { return s.paint("33", text) }
func (s style) dim(text string) string  { return s.paint("2", text) }

// printable is text that does nothing to a terminal but show: what is not
// printable is shown as Go writes it.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// printableText is printable, but for the newlines and tabs of a text.
func printableText(text string) string {
	keep := func(r rune) bool { return r == '\n' || r == '\t' }
	var b strings.Builder
	for text != "" {
		at := strings.IndexFunc(text, keep)
		if at < 0 {
			break
		}
		b.WriteString(printable(text[:at]))
		b.WriteByte(text[at])
		text = text[at+1:]
	}
	return b.String() + printable(text)
}

// jsonText is JSON that does nothing to a terminal but show: what an encoder
// leaves as it is, and is not printable, is written as JSON writes it otherwise.
func jsonText(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// hidden tells whether a character of JSON is not printable. Those of ASCII that
// are in JSON but for the last are its own white space.
func hidden(r rune) bool { return r >= 0x7f && !strconv.IsPrint(r) }

// shorten cuts text to n runes.
func shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}
