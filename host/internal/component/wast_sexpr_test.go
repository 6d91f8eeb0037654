package component

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// sexpr is a node of a .wast script: a list, a string or a word.
type sexpr struct {
	list     []*sexpr
	isList   bool
	isString bool
	text     string // the word, or the string unescaped
	from, to int    // in the source
	line     int
}

// head is the first word of a list.
func (s *sexpr) head() string {
	if s.isList && len(s.list) > 0 && !s.list[0].isList && !s.list[0].isString {
		return s.list[0].text
	}
	return ""
}

// word is item i as a word, or "".
func (s *sexpr) word(i int) string {
	if i < len(s.list) && !s.list[i].isList && !s.list[i].isString {
		return s.list[i].text
	}
	return ""
}

type sexprReader struct {
	src  string
	pos  int
	line int
}

// parseScript reads the top-level forms of a script.
func parseScript(src string) (forms []*sexpr, err error) {
	r := &sexprReader{src: src, line: 1}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("line %d: %v", r.line, p)
		}
	}()
	for r.skip(); r.pos < len(r.src); r.skip() {
		forms = append(forms, r.node())
	}
	return forms, nil
}

// skip passes white space and comments, which may nest.
func (r *sexprReader) skip() {
	depth := 0
	for r.pos < len(r.src) {
		rest := r.src[r.pos:]
		switch {
		case rest[0] == '\n':
			r.line++
			r.pos++
		case strings.HasPrefix(rest, "(;"):
			depth++
			r.pos += 2
		case depth > 0 && strings.HasPrefix(rest, ";)"):
			depth--
			r.pos += 2
		case depth > 0:
			r.pos++
		case strings.HasPrefix(rest, ";;"):
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				r.pos += i
			} else {
				r.pos = len(r.src)
			}
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			r.pos++
		default:
			return
		}
	}
}

func (r *sexprReader) node() *sexpr {
	n := &sexpr{from: r.pos, line: r.line}
	switch r.src[r.pos] {
	case '(':
		n.isList = true
		r.pos++
		for r.skip(); ; r.skip() {
			if r.pos >= len(r.src) {
				panic("list is not closed")
			}
			if r.src[r.pos] == ')' {
				r.pos++
				break
			}
			n.list = append(n.list, r.node())
		}
	case '"':
		n.isString = true
		n.text = r.str()
	default:
		end := strings.IndexAny(r.src[r.pos:], " \t\r\n()\";")
		if end < 0 {
			end = len(r.src) - r.pos
		}
		n.text = r.src[r.pos : r.pos+end]
		r.pos += end
	}
	n.to = r.pos
	return n
}

func (r *sexprReader) str() string {
	var b strings.Builder
	for r.pos++; ; {
		c := r.src[r.pos]
		switch c {
		case '"':
			r.pos++
			return b.String()
		case '\\':
			r.escape(&b)
		default:
			if c == '\n' {
				r.line++
			}
			b.WriteByte(c)
			r.pos++
		}
	}
}

func (r *sexprReader) escape(b *strings.Builder) {
	simple := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\'': '\'', '\\': '\\'}
	c := r.src[r.pos+1]
	if v, ok := simple[c]; ok {
		b.WriteByte(v)
		r.pos += 2
		return
	}
	var n int
	if c == 'u' {
		end := r.pos + strings.IndexByte(r.src[r.pos:], '}')
		if _, err := fmt.Sscanf(r.src[r.pos+3:end], "%x", &n); err != nil {
			panic(err)
		}
		b.Write(utf8.AppendRune(nil, rune(n)))
		r.pos = end + 1
		return
	}
	if _, err := fmt.Sscanf(r.src[r.pos+1:r.pos+3], "%02x", &n); err != nil {
		panic(err)
	}
	b.WriteByte(byte(n))
	r.pos += 3
}

func TestScriptParser(t *testing.T) {
	t.Parallel()
	forms, err := parseScript(`;; a line
(; a (; nested ;) block ;) (assert_trap (invoke "f\"\41\u{e9}" (u32.const 1)) "no") (component $a)`)
	require.NoError(t, err)
	require.Len(t, forms, 2)
	require.Equal(t, "assert_trap", forms[0].head())
	require.Equal(t, "f\"Aé", forms[0].list[1].list[1].text)
	require.Equal(t, "$a", forms[1].word(1))
	_, err = parseScript("(a (b)")
	require.ErrorContains(t, err, "not closed")
}
