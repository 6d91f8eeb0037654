package precheck

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// A reader reads the file. The first thing that goes wrong sticks: every later
// read gives zero, so that callers look at ok once a loop, and at the error once
// at the end.
type reader struct {
	b   []byte
	pos int
	end int // of the section or function body that is read
	err error
}

func (r *reader) ok() bool { return r.err == nil }

func (r *reader) left() int { return r.end - r.pos }

func (r *reader) fail(at int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: at, Text: fmt.Sprintf(format, args...)}
	}
}

// over fails if the file asks for more of what than limit.
func (r *reader) over(at int, what string, have, limit uint64) bool {
	if have <= limit {
		return false
	}
	if r.err == nil {
		r.err = &LimitError{Offset: at, What: what, Have: have, Limit: limit}
	}
	return true
}

func (r *reader) truncated(at int) {
	what := "the section"
	if r.end == len(r.b) {
		what = "the file"
	}
	r.fail(at, "unexpected end of %s", what)
}

func (r *reader) byte() byte {
	if r.err != nil {
		return 0
	}
	if r.pos >= r.end {
		r.truncated(r.pos)
		return 0
	}
	c := r.b[r.pos]
	r.pos++
	return c
}

// skip passes over n bytes.
func (r *reader) skip(n uint64) {
	if r.err != nil {
		return
	}
	if n > uint64(r.left()) {
		r.truncated(r.end)
		return
	}
	r.pos += int(n)
}

var errLEB = errors.New("malformed number")

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	if r.err == nil && r.pos < r.end && r.b[r.pos] < 0x80 {
		r.pos++
		return uint32(r.b[r.pos-1])
	}
	at := r.pos
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		if shift == 28 && c > 0x0f {
			break
		}
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.fail(at, "%v: more than 32 bits", errLEB)
	return 0
}

// signed reads a signed LEB128 number of at most bits bits.
func (r *reader) signed(bits int) int64 {
	at := r.pos
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c >= 0x80 {
			continue
		}
		if width := bits - shift; width < 7 && !signExtended(c, width) {
			break
		}
		if s := shift + 7; s < 64 && c&0x40 != 0 {
			v |= -1 << s
		}
		return v
	}
	r.fail(at, "%v: more than %d bits", errLEB, bits)
	return 0
}

// signExtended tells whether the seven bits of c are a number of width bits.
func signExtended(c byte, width int) bool {
	top := int8(c<<1) >> width // arithmetic: the sign bit and all above it
	return top == 0 || top == -1
}

// count reads the length of a vector whose items take at least one byte each.
func (r *reader) count(what string, limit uint64) int {
	at := r.pos
	n := r.u32()
	switch {
	case r.err != nil:
		return 0
	case uint64(n) > uint64(r.left()):
		r.fail(at, "%d %s cannot be in the %d bytes that are left", n, what, r.left())
		return 0
	case r.over(at, what, uint64(n), limit):
		return 0
	}
	return int(n)
}

// bytes reads a vector of bytes. What it gives is part of the file.
func (r *reader) bytes() []byte {
	n := r.u32()
	at := r.pos
	r.skip(uint64(n))
	if r.err != nil {
		return nil
	}
	return r.b[at:r.pos]
}

func (r *reader) name(what string) string {
	at := r.pos
	b := r.bytes()
	if r.over(at, "bytes in "+what, uint64(len(b)), maxNameBytes) {
		return ""
	}
	if !utf8.Valid(b) {
		r.fail(at, "%s is not valid UTF-8", what)
	}
	return string(b)
}

// section limits the reader to the next size bytes; the result undoes it.
func (r *reader) section(size uint32) (undo int) {
	undo = r.end
	if uint64(size) > uint64(r.left()) {
		r.fail(r.pos, "%d bytes are announced, %d are left", size, r.left())
		return undo
	}
	r.end = r.pos + int(size)
	return undo
}
