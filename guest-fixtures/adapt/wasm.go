package adapt

import (
	"encoding/binary"
	"errors"
	"strings"
)

const header = "\x00asm\x01\x00\x00\x00"

const (
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionGlobal   = 6
	sectionExport   = 7
	sectionCode     = 10
	sectionData     = 11
)

// A section is the contents of one: a list that begins with its length.
type section struct {
	id   byte
	body []byte
}

func split(wasm []byte) ([]section, error) {
	if !strings.HasPrefix(string(wasm), header) {
		return nil, errors.New("it is no core module")
	}
	var all []section
	r := reader{b: wasm[len(header):]}
	for len(r.b) > 0 && r.err == nil {
		id := r.byte()
		all = append(all, section{id, r.bytes(r.u32())})
	}
	return all, r.err
}

// extended returns the section with a further item in its list.
func (s section) extended(item []byte) (section, error) {
	r := reader{b: s.body}
	count := r.u32()
	return section{s.id, append(append(uleb(nil, count+1), r.b...), item...)}, r.err
}

func join(sections []section) []byte {
	b := []byte(header)
	for _, s := range sections {
		b = append(append(b, s.id), sized(s.body)...)
	}
	return b
}

func uleb(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

// constant appends the instruction that gives v, which it takes as signed.
func constant(b []byte, v uint32) []byte {
	b = append(b, opConst)
	s := int32(v)
	for s < -0x40 || s > 0x3f {
		b = append(b, byte(s)|0x80)
		s >>= 7
	}
	return append(b, byte(s)&0x7f)
}

// sized puts before b how long it is.
func sized(b []byte) []byte { return append(uleb(nil, uint32(len(b))), b...) }

// A reader reads a module. The first error sticks, and all that is read after it
// is zero.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(text string) {
	if r.err == nil {
		r.err = errors.New(text)
	}
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)) {
		r.fail("it ends too early")
	}
	if r.err != nil {
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) byte() byte {
	b := r.bytes(1)
	if r.err != nil {
		return 0
	}
	return b[0]
}

func (r *reader) u32() uint32 {
	v, _ := r.leb()
	return v
}

// s32 reads a signed number, as the bits that it has in memory.
func (r *reader) s32() uint32 {
	v, bits := r.leb()
	if bits < 32 && v>>(bits-1) == 1 {
		v |= ^uint32(0) << bits
	}
	return v
}

// leb reads a number, and tells how many bits it was written with.
func (r *reader) leb() (v uint32, bits int) {
	for {
		c := r.byte()
		v |= uint32(c&0x7f) << bits
		bits += 7
		if c < 0x80 {
			return v, bits
		}
		if bits >= 35 {
			r.fail("it has a malformed number")
			return 0, 7
		}
	}
}
