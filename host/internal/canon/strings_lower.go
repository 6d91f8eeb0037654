package canon

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// lowerString copies a string of Go into guest memory. Bytes that are not UTF-8
// become U+FFFD: the guest was promised text. The host knows what it writes, so
// it allocates once, and exactly; between components the steps are the spec's,
// which an allocator can observe.
func (c *Call) lowerString(s string, src srcEncoding) (ptr, length uint32, err error) {
	if !validUTF8String(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if uint64(len(s)) > uint64(c.inst.limits.ValueBytes) {
		return 0, 0, c.stringTooLong(uint64(len(s)))
	}
	if c.b.Fused {
		return c.lowerFused(s, src)
	}
	switch c.b.Encoding {
	case UTF8:
		return c.lowerUTF8(s)
	case UTF16:
		return c.lowerUTF16(s)
	default:
		return c.lowerLatin1OrUTF16(s)
	}
}

// stringTexts are what is said of an allocator that fails for a string.
func (c *Call) stringTexts() areaTexts { return c.say(areaRealloc, fusedString) }

func (c *Call) lowerUTF8(s string) (ptr, length uint32, err error) {
	ptr, err = c.realloc(0, 0, 1, uint32(len(s)), c.stringTexts())
	if err != nil {
		return 0, 0, err
	}
	copy(c.mem[ptr:], s)
	return ptr, uint32(len(s)), nil
}

func (c *Call) lowerUTF16(s string) (ptr, length uint32, err error) {
	units := utf16Len(s)
	if uint64(2*units) > uint64(c.inst.limits.ValueBytes) {
		return 0, 0, c.stringTooLong(uint64(2 * units))
	}
	ptr, err = c.realloc(0, 0, 2, uint32(2*units), c.stringTexts())
	if err != nil {
		return 0, 0, err
	}
	putUTF16(c.mem[ptr:], s)
	return ptr, uint32(units), nil
}

func (c *Call) lowerLatin1OrUTF16(s string) (ptr, length uint32, err error) {
	n, ok := latin1Len(s)
	if !ok {
		ptr, length, err = c.lowerUTF16(s)
		return ptr, length | utf16Tag, err
	}
	ptr, err = c.realloc(0, 0, 2, uint32(n), c.stringTexts())
	if err != nil {
		return 0, 0, err
	}
	putLatin1(c.mem[ptr:], s)
	return ptr, uint32(n), nil
}

// utf16Len is how many code units s takes.
func utf16Len(s string) (units int) {
	for _, r := range s {
		units += utf16.RuneLen(r)
	}
	return units
}

// latin1Len is how many characters s has. It is not ok if one of them is not in
// Latin-1.
func latin1Len(s string) (n int, ok bool) {
	for _, r := range s {
		if r > 0xff {
			return 0, false
		}
		n++
	}
	return n, true
}

func putUTF16(dst []byte, s string) {
	at := 0
	for _, r := range s {
		if r < 0x10000 {
			binary.LittleEndian.PutUint16(dst[at:], uint16(r))
			at += 2
			continue
		}
		hi, lo := utf16.EncodeRune(r)
		binary.LittleEndian.PutUint16(dst[at:], uint16(hi))
		binary.LittleEndian.PutUint16(dst[at+2:], uint16(lo))
		at += 4
	}
}

func putLatin1(dst []byte, s string) {
	at := 0
	for _, r := range s {
		dst[at] = byte(r)
		at++
	}
}
