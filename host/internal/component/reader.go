package component

import (
	"fmt"
	"unicode/utf8"
)

// reader walks a part of the binary. The first fault sticks: every later read
// gives zero and moves nothing, so that callers check err where they would
// otherwise build on a false value, not after each byte.
type reader struct {
	data []byte // the whole binary; positions are offsets into it
	pos  int
	end  int
	err  *Error
}

func newReader(data []byte) *reader { return &reader{data: data, end: len(data)} }

// fail records the first fault, at the current position.
func (r *reader) fail(format string, args ...any) { r.failAt(r.pos, format, args...) }

func (r *reader) failAt(offset int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: offset, Message: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) ok() bool   { return r.err == nil }
func (r *reader) more() bool { return r.err == nil && r.pos < r.end }
func (r *reader) left() int  { return r.end - r.pos }

func (r *reader) byte() byte {
	if r.err != nil {
		return 0
	}
	if r.pos >= r.end {
		r.fail("unexpected end-of-file")
		return 0
	}
	b := r.data[r.pos]
	r.pos++
	return b
}

// peek gives the next byte without taking it, or 0 at the end.
func (r *reader) peek() byte {
	if r.more() {
		return r.data[r.pos]
	}
	return 0
}

// badLeading reports the byte just read, which should have chosen a form.
func (r *reader) badLeading(b byte, what string) {
	r.failAt(r.pos-1, "invalid leading byte (0x%x) for %s", b, what)
}

func (r *reader) u32() uint32 {
	var v uint32
	for shift := 0; ; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if shift == 28 && b&0x70 != 0 {
			r.failAt(r.pos-1, "invalid var_u32: integer too large")
			return 0
		}
		if shift == 28 && b&0x80 != 0 {
			r.failAt(r.pos-1, "invalid var_u32: integer representation too long")
			return 0
		}
		v |= uint32(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
}

// u64 reads an unsigned LEB128 of 64 bits, as limits of 64-bit memories use it.
func (r *reader) u64() uint64 {
	var v uint64
	for shift := 0; ; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if shift == 63 && b > 1 {
			r.failAt(r.pos-1, "invalid var_u64: integer too large")
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
}

// s33 reads a signed LEB128 of 33 bits: type indices are not negative, type
// codes are.
func (r *reader) s33() int64 {
	var v int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.failAt(r.pos-1, "invalid var_s33: integer representation too long")
	return 0
}

// count reads the length of a vector whose items take at least one byte each.
func (r *reader) count(what string) int {
	at := r.pos
	n := r.u32()
	if r.err == nil && int64(n) > int64(r.left()) {
		r.failAt(at, "unexpected end-of-file: %d %s declared, %d bytes left", n, what, r.left())
		return 0
	}
	return int(n)
}

func (r *reader) boolean() bool {
	b := r.byte()
	if b > 1 {
		r.failAt(r.pos-1, "invalid boolean value 0x%x", b)
	}
	return b == 1
}

// name reads a length-prefixed UTF-8 string.
func (r *reader) name() string {
	at := r.pos
	n := r.u32()
	if r.err != nil {
		return ""
	}
	if int64(n) > int64(r.left()) {
		r.failAt(at, "unexpected end-of-file in a name of %d bytes", n)
		return ""
	}
	if n > maxNameBytes {
		r.failAt(at, "name of %d bytes is longer than the limit of %d", n, maxNameBytes)
		return ""
	}
	b := r.data[r.pos : r.pos+int(n)]
	if !utf8.Valid(b) {
		r.fail("malformed UTF-8 encoding")
		return ""
	}
	r.pos += int(n)
	return string(b)
}

// sub takes the next n bytes as a reader of their own.
func (r *reader) sub(n uint32) *reader {
	if r.err == nil && int64(n) > int64(r.left()) {
		r.fail("unexpected end-of-file: %d bytes declared, %d left", n, r.left())
	}
	if r.err != nil {
		return &reader{data: r.data, err: r.err}
	}
	s := &reader{data: r.data, pos: r.pos, end: r.pos + int(n)}
	r.pos += int(n)
	return s
}

// done joins the fault of a part into the whole.
func (r *reader) done(s *reader) {
	if r.err == nil && s.err != nil {
		r.err = s.err
	}
}
