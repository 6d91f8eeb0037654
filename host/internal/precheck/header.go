package precheck

import (
	"bytes"
	"encoding/binary"
)

var magic = []byte("\x00asm")

const headerSize = 8

// header reads the preamble. Component binaries share it with core modules: the
// version's upper half is their layer.
func (m *Module) header(r *reader) error {
	if n := min(len(r.b), len(magic)); n == 0 || !bytes.Equal(r.b[:n], magic[:n]) {
		return &Error{Offset: 0, Text: "this is not a WebAssembly file" + guess(r.b)}
	}
	if len(r.b) < headerSize {
		return &Error{Offset: len(r.b), Text: "unexpected end of the file in its header"}
	}
	version, layer := binary.LittleEndian.Uint16(r.b[4:]), binary.LittleEndian.Uint16(r.b[6:])
	if layer != 0 {
		return &ComponentError{Layer: layer, Version: version}
	}
	if version != 1 {
		r.fail(4, "this is version %d of WebAssembly; only version 1 is known", version)
		return r.err
	}
	r.pos = headerSize
	return nil
}

// guess says what a file looks like that is no WebAssembly, for the mistakes
// that people make.
func guess(b []byte) string {
	switch {
	case len(b) == 0:
		return ": it is empty"
	case bytes.HasPrefix(b, []byte("(module")), bytes.HasPrefix(b, []byte("(component")):
		return ": it looks like WebAssembly text"
	case bytes.HasPrefix(b, []byte("\x7fELF")), bytes.HasPrefix(b, []byte("MZ")), bytes.HasPrefix(b, []byte("\xcf\xfa\xed\xfe")):
		return ": it looks like a native program"
	case bytes.HasPrefix(b, []byte("PK\x03\x04")), bytes.HasPrefix(b, []byte("\x1f\x8b")):
		return ": it looks like an archive"
	}
	return ""
}
