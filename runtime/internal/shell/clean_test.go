package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"text", "a\tb\nc\n", "a\tb\nc\n"},
		{"no last newline", "a\nb", "a\nb"},
		{"empty lines", "\n\n\n", "\n\n\n"},
		{"NUL and other controls", "a\x00b\x01\x07\x0b\x0c\x7fc", "abc"},
		{"controls of eight bits", "a\u0080\u0085b", "ab"},
		{"invalid bytes", "a\xff\xfeb\xe6\x97", "a\ufffd\ufffdb\ufffd\ufffd"},
		{"an encoded surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"colours", "\x1b[31;1mred\x1b[0m", "red"},
		{"private parameters", "\x1b[?25l\x1b[>4;2ma", "a"},
		{"CSI of eight bits", "\u009b31mred", "red"},
		{"a title, ended by BEL", "\x1b]0;title\x07a", "a"},
		{"a title, ended by ST", "\x1b]0;title\x1b\\a", "a"},
		{"a title of eight bits", "\u009d0;title\u009ca", "a"},
		{"a hyperlink", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"a device control string", "\x1bPq#0;1;2\x1b\\a", "a"},
		{"a privacy message", "\x1b^x\x1b\\\x1b_y\x1b\\\x1bXz\x1b\\a", "a"},
		{"a character set", "\x1b(B\x1b)0a", "a"},
		{"reset", "\x1bca\x1b7b\x1b8", "ab"},
		{"ESC alone", "a\x1b", "a"},
		{"ESC twice", "\x1b\x1b[31ma", "a"},
		{"CSI that is broken off", "\x1b[31\na", "\na"},
		{"a title that never ends", "\x1b]0;title\nnext line", "\nnext line"},
		{"a title that is followed by another sequence", "\x1b]0;t\x1b[31ma", "a"},
		{"ESC in the middle of CSI", "\x1b[3\x1b[1ma", "a"},

		{"lines of other systems", "a\r\nb\r\n", "a\nb\n"},
		{"overwritten", "10%\r20%\r100%\n", "100%\n"},
		{"overwritten by something shorter", "long text\rx\n", "x\n"},
		{"returned and not overwritten", "done\r", "done"},
		{"returned twice", "done\r\r\n", "done\n"},
		{"erased and written anew", "50%\r\x1b[K100%", "100%"},
		{"erased", "50%\r\x1b[K\nend", "\nend"},
		{"erased whole", "50%\x1b[2K\x1b[1G60%", "60%"},
		{"rest of the line erased", "50%\x1b[K", "50%"},
		{"only this line", "kept\na\rb", "kept\nb"},
		{"backspaces", "abc\b\bX", "aX"},
		{"overstrikes", "N\bNA\bA日\b日", "NA日"},
		{"too many backspaces", "a\b\b\bb\n\b\bc", "b\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, cut := Clean([]byte(c.raw), 1000)
			assert.Equal(t, c.want, text)
			assert.False(t, cut)
		})
	}
}

func TestCleanLimit(t *testing.T) {
	for _, c := range []struct {
		raw, want string
		cut       bool
	}{
		{"1234567", "1234567", false},
		{"12345678", "12345678", false},
		{"123456789", "12345678", true},
		{"1234567\n", "1234567\n", false},
		{"12345678\n", "12345678", true},
		{"日本語", "日本", true},
		{"123\n5678", "123\n5678", false},
		{"123\n56789", "123\n5678", true},
		{"123\n5678\n", "123\n5678", true},
		{"123456789\rabc", "abc", false},
		{"123456789\rabc\nd\nefg", "abc\nd\nef", true},
		{"\xff\xff\xff", "\ufffd\ufffd", true},
		{"123456789\b\b\b", "12345678", true},
		{"123456789\n\r\n\n", "12345678", true},
	} {
		text, cut := Clean([]byte(c.raw), 8)
		assert.Equal(t, c.want, text, "%q", c.raw)
		assert.Equal(t, c.cut, cut, "%q", c.raw)
	}
}

// TestCleanNeverHidesMuch: a sequence without an end hides 4 KiB at most.
func TestCleanNeverHidesMuch(t *testing.T) {
	for _, start := range []string{"\x1b]0;", "\x1b[", "\x1bP", "\x1b", "\u009d"} {
		text, _ := Clean([]byte(start+strings.Repeat("1", 10000)), 1<<20)
		assert.GreaterOrEqual(t, len(text), 10000-maxSequence-8, "%q", start)
	}
}

func TestInlineReadsNoMoreThanItNeeds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("line\n", 100_000)), 0o600))
	text, cut, err := inline(path, InlineLimit)
	require.NoError(t, err)
	require.True(t, cut)
	require.Equal(t, strings.Repeat("line\n", 100_000)[:InlineLimit], text)

	// A line that is written over and over is followed only so far.
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("\rworking", maxCleaned/4)), 0o600))
	text, cut, err = inline(path, InlineLimit)
	require.NoError(t, err)
	require.True(t, cut)
	require.Equal(t, "working", text)

	_, _, err = inline(filepath.Join(t.TempDir(), "missing"), InlineLimit)
	require.Error(t, err)
}

// Whether a stream is cut is decided by what was written, not by what its invalid
// bytes become.
func TestInline_CountsRawBytes(t *testing.T) {
	for _, over := range []int{0, 1} {
		o := captured(t, strings.Repeat("\xff", InlineLimit+over), "")
		var f foreground
		text, cut := f.inline(o.StdoutPath, o.StdoutBytes)
		assert.Equal(t, over > 0, cut)
		assert.Empty(t, f.notes.String())
		if !cut {
			assert.Equal(t, strings.Repeat("\uFFFD", InlineLimit), text)
		} else {
			assert.LessOrEqual(t, len(text), InlineLimit)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{
		"a\x1b[31mb\rc\n", "\x1b]0;x\x07", "\x1bP\x1b\\", "\xff日\b\b\n\n", "\u009b1m\u009d\u009c", "\x1b[2K\x1b[", strings.Repeat("x", 100),
	} {
		f.Add([]byte(seed), 16)
	}
	f.Fuzz(func(t *testing.T, raw []byte, limit int) {
		limit &= 1<<12 - 1
		text, cut := Clean(raw, limit)
		require.LessOrEqual(t, len(text), limit)
		require.True(t, utf8.ValidString(text))
		for _, r := range text {
			require.True(t, r == '\t' || r == '\n' || !unicode.IsControl(r), "%q", text)
		}
		again, _ := Clean([]byte(text), limit)
		require.Equal(t, text, again, "cleaning clean text changes nothing")

		// However the bytes come, the text is the same.
		c := cleaner{limit: limit}
		more, err := c.read(iotest.OneByteReader(bytes.NewReader(raw)))
		require.NoError(t, err)
		slow, slowCut := c.finish()
		require.Equal(t, text, slow)
		require.Equal(t, cut, slowCut || more)
	})
}
