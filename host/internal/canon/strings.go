package canon

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// utf16Tag is set in the length of a latin1+utf16 string that is UTF-16.
const utf16Tag = 1 << 31

// A srcEncoding is what a string was before it became Go's UTF-8. It decides in
// which steps the string is allocated in another component.
type srcEncoding uint8

const (
	srcUTF8 srcEncoding = iota
	srcUTF16
	srcLatin1
	// srcWide is the UTF-16 form of latin1+utf16.
	srcWide
)

// liftString copies a string out of guest memory (the spec's
// load_string_from_range).
func (c *Call) liftString(ptr, length uint32) (string, srcEncoding, error) {
	switch {
	case c.b.Encoding == UTF8:
		s, err := c.liftUTF8(ptr, length)
		return s, srcUTF8, err
	case c.b.Encoding == UTF16:
		s, err := c.liftUTF16(ptr, uint64(length))
		return s, srcUTF16, err
	case length&utf16Tag != 0:
		s, err := c.liftUTF16(ptr, uint64(length^utf16Tag))
		return s, srcWide, err
	default:
		s, err := c.liftLatin1(ptr, length)
		return s, srcLatin1, err
	}
}

// stringArea is the part of memory that holds a string of size bytes.
func (c *Call) stringArea(ptr, align uint32, size uint64) ([]byte, error) {
	if err := c.check(ptr, align, size, c.say(areaString, fusedString)); err != nil {
		return nil, err
	}
	if size > uint64(c.inst.limits.ValueBytes) {
		return nil, c.stringTooLong(size)
	}
	return c.mem[ptr : uint64(ptr)+size], nil
}

// stringTooLong is the trap for a string beyond the limit. Between components
// that counts as being out of bounds.
func (c *Call) stringTooLong(size uint64) error {
	t := trapf(textTooLong, "a string", size, c.inst.limits.ValueBytes)
	if c.b.Fused {
		return &Trap{Text: textFusedStringRange, Detail: t.Text}
	}
	return t
}

func (c *Call) liftUTF8(ptr, length uint32) (string, error) {
	raw, err := c.stringArea(ptr, 1, uint64(length))
	if err != nil {
		return "", err
	}
	if !validUTF8(raw) {
		return "", utf8Trap(raw)
	}
	if err := c.spend(uint64(length)); err != nil {
		return "", err
	}
	return string(raw), nil
}

// utf8Trap tells in what way raw is not UTF-8.
func utf8Trap(raw []byte) error {
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			break
		}
		raw = raw[n:]
	}
	if !utf8.FullRune(raw) {
		return trapf(textUTF8Short)
	}
	return trapf(textUTF8)
}

func (c *Call) liftUTF16(ptr uint32, units uint64) (string, error) {
	raw, err := c.stringArea(ptr, 2, 2*units)
	if err != nil {
		return "", err
	}
	size, ok := utf16Size(raw)
	if !ok {
		return "", trapf(textUTF16)
	}
	if err := c.spend(uint64(size)); err != nil {
		return "", err
	}
	out := make([]byte, 0, size)
	for len(raw) > 0 {
		r, n := decodeUTF16(raw)
		out = utf8.AppendRune(out, r)
		raw = raw[n:]
	}
	return unsafe.String(unsafe.SliceData(out), len(out)), nil
}

// utf16Size is how many bytes of UTF-8 a little-endian UTF-16 text makes. It is
// not ok if a surrogate stands alone.
func utf16Size(raw []byte) (size int, ok bool) {
	for len(raw) > 0 {
		r, n := decodeUTF16(raw)
		if r < 0 {
			return 0, false
		}
		size += utf8.RuneLen(r)
		raw = raw[n:]
	}
	return size, true
}

// decodeUTF16 reads the first character of raw, and tells how many bytes it
// takes. It is -1 for a surrogate without its other half.
func decodeUTF16(raw []byte) (rune, int) {
	r := rune(binary.LittleEndian.Uint16(raw))
	if !utf16.IsSurrogate(r) {
		return r, 2
	}
	if len(raw) < 4 {
		return -1, 2
	}
	r = utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(raw[2:])))
	if r == utf8.RuneError {
		return -1, 2
	}
	return r, 4
}

func (c *Call) liftLatin1(ptr, length uint32) (string, error) {
	raw, err := c.stringArea(ptr, 2, uint64(length))
	if err != nil {
		return "", err
	}
	size := len(raw)
	for _, b := range raw {
		size += int(b >> 7)
	}
	if err := c.spend(uint64(size)); err != nil {
		return "", err
	}
	out := make([]byte, 0, size)
	for _, b := range raw {
		out = utf8.AppendRune(out, rune(b))
	}
	return unsafe.String(unsafe.SliceData(out), len(out)), nil
}
