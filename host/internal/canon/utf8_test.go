package canon

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// edges are the bytes at which what may follow changes.
var edges = []byte{0, 'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff}

func sameAsUTF8(t *testing.T, p []byte) {
	t.Helper()
	if want := utf8.Valid(p); validUTF8(p) != want || validUTF8String(string(p)) != want {
		require.Failf(t, "wrong", "% x should be %v", p, want)
	}
}

// TestValidUTF8 compares all sequences of up to four bytes that matter with what
// Go says of them.
func TestValidUTF8(t *testing.T) {
	sameAsUTF8(t, nil)
	p := make([]byte, 4)
	for n := 1; n <= len(p); n++ {
		eachSequence(p[:n], func() { sameAsUTF8(t, p[:n]) })
	}
}

func eachSequence(p []byte, visit func()) {
	if len(p) == 0 {
		visit()
		return
	}
	for _, b := range edges {
		p[0] = b
		eachSequence(p[1:], visit)
	}
}

func TestValidUTF8OfEachRune(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) && !validUTF8(utf8.AppendRune(nil, r)) {
			require.Failf(t, "wrong", "%U is a character", r)
		}
	}
}

// TestValidUTF8AnyPlace puts characters, and halves of them, across the borders of
// the words that are skipped.
func TestValidUTF8AnyPlace(t *testing.T) {
	for _, c := range []string{"é", "日", "😀", "\x80", "\xe6\x97", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80"} {
		for before := range 80 {
			for _, after := range []int{0, 1, 7, 8, 40} {
				sameAsUTF8(t, []byte(strings.Repeat("a", before)+c+strings.Repeat("b", after)))
			}
		}
	}
}

func FuzzValidUTF8(f *testing.F) {
	f.Add([]byte("naïve 日本 😀"))
	f.Add([]byte("a text of more than eight bytes\xff"))
	f.Fuzz(func(t *testing.T, p []byte) { assert.Equal(t, utf8.Valid(p), validUTF8(p)) })
}
