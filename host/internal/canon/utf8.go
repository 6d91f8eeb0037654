package canon

import (
	"encoding/binary"
	"unsafe"
)

// validUTF8 tells whether p is UTF-8, as utf8.Valid does. Every string that
// crosses a border is looked at, and this takes half the time for text that is
// not ASCII: it runs an automaton, which has no branch that depends on the text,
// and skips ASCII in words.
func validUTF8(p []byte) bool {
	state := uint64(utf8Accept)
	for len(p) >= 8 {
		if state&63 == utf8Accept && isASCII(p) {
			p = skipASCII(p[8:])
			continue
		}
		state = utf8Steps[p[0]] >> (state & 63)
		state = utf8Steps[p[1]] >> (state & 63)
		state = utf8Steps[p[2]] >> (state & 63)
		state = utf8Steps[p[3]] >> (state & 63)
		state = utf8Steps[p[4]] >> (state & 63)
		state = utf8Steps[p[5]] >> (state & 63)
		state = utf8Steps[p[6]] >> (state & 63)
		state = utf8Steps[p[7]] >> (state & 63)
		p = p[8:]
	}
	for _, b := range p {
		state = utf8Steps[b] >> (state & 63)
	}
	return state&63 == utf8Accept
}

func validUTF8String(s string) bool { return validUTF8(unsafe.Slice(unsafe.StringData(s), len(s))) }

const highBits = 0x8080808080808080

// isASCII looks at the first eight bytes.
func isASCII(p []byte) bool { return binary.LittleEndian.Uint64(p)&highBits == 0 }

// skipASCII skips what it can in steps of 32 bytes.
func skipASCII(p []byte) []byte {
	for len(p) >= 32 {
		low := binary.LittleEndian.Uint64(p) | binary.LittleEndian.Uint64(p[8:])
		high := binary.LittleEndian.Uint64(p[16:]) | binary.LittleEndian.Uint64(p[24:])
		if (low|high)&highBits != 0 {
			break
		}
		p = p[32:]
	}
	return p
}

// The states of the automaton, by what may come next. They are multiples of 6,
// so that each is the place of its successor in the 64 bits of a step.
const (
	utf8Accept = 6 * iota // a character
	utf8Tail1             // one more byte of a character
	utf8Tail2
	utf8Tail3
	utf8AfterE0 // two more, the first not of an overlong form
	utf8AfterED // two more, the first not of a surrogate
	utf8AfterF0 // three more, the first not of an overlong form
	utf8AfterF4 // three more, the first not beyond the last plane
	utf8Reject  // nothing: it is not UTF-8
)

// utf8Steps has for each byte the state after each state (Unicode, table 3-7).
var utf8Steps = makeUTF8Steps()

func makeUTF8Steps() (steps [256]uint64) {
	set := func(from, first, last int, to uint64) {
		for b := first; b <= last; b++ {
			steps[b] = steps[b]&^(63<<from) | to<<from
		}
	}
	for s := utf8Accept; s <= utf8Reject; s += 6 {
		set(s, 0, 0xff, utf8Reject)
	}
	set(utf8Accept, 0, 0x7f, utf8Accept)
	set(utf8Accept, 0xc2, 0xdf, utf8Tail1)
	set(utf8Accept, 0xe1, 0xef, utf8Tail2)
	set(utf8Accept, 0xf1, 0xf3, utf8Tail3)
	set(utf8Accept, 0xe0, 0xe0, utf8AfterE0)
	set(utf8Accept, 0xed, 0xed, utf8AfterED)
	set(utf8Accept, 0xf0, 0xf0, utf8AfterF0)
	set(utf8Accept, 0xf4, 0xf4, utf8AfterF4)
	set(utf8Tail1, 0x80, 0xbf, utf8Accept)
	set(utf8Tail2, 0x80, 0xbf, utf8Tail1)
	set(utf8Tail3, 0x80, 0xbf, utf8Tail2)
	set(utf8AfterE0, 0xa0, 0xbf, utf8Tail1)
	set(utf8AfterED, 0x80, 0x9f, utf8Tail1)
	set(utf8AfterF0, 0x90, 0xbf, utf8Tail2)
	set(utf8AfterF4, 0x80, 0x8f, utf8Tail2)
	return steps
}
