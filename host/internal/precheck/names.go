package precheck

import (
	"bytes"
	"unicode/utf8"
)

const subsectionFunctions = 1

// custom reads a custom section's name. What else is in it has no bearing on
// the module: of the name section, the part with the functions' names is kept.
func (c *checker) custom() {
	name := c.name("the name of a custom section")
	if name == "name" && c.names == nil {
		c.names = functionNames(c.b[c.pos:c.end])
	}
	c.pos = c.end
}

// functionNames finds the functions' names in a name section. A section that is
// malformed has none.
func functionNames(b []byte) []byte {
	r := &reader{b: b, end: len(b)}
	for r.ok() && r.left() > 0 {
		id := r.byte()
		content := r.bytes()
		if r.ok() && id == subsectionFunctions {
			return content
		}
	}
	return nil
}

// Names are the names that a module gives its functions, for messages.
type Names struct{ raw []byte }

// Names gives the functions' names. They do not alias the file.
func (m *Module) Names() Names { return Names{raw: bytes.Clone(m.names)} }

// maxShownName is how much of a name is given: toolchains write names of some
// kilobytes for generic code.
const maxShownName = 500

// Function is the name of a function, or "". It reads the names each time: it
// is called when something went wrong, and need not be fast.
func (n Names) Function(index uint32) string {
	r := &reader{b: n.raw, end: len(n.raw)}
	for range r.u32() {
		i, name := r.u32(), r.bytes()
		if !r.ok() || i > index {
			return ""
		}
		if i == index {
			return shown(name)
		}
	}
	return ""
}

// shown makes a name of the guest's fit for a message: on one line, valid, and
// of bounded length.
func shown(name []byte) string {
	cut := name[:min(len(name), maxShownName)]
	out := make([]rune, 0, len(cut))
	for _, c := range string(cut) {
		if c < ' ' || c == 0x7f || c == utf8.RuneError {
			c = '?'
		}
		out = append(out, c)
	}
	if len(cut) < len(name) {
		out = append(out, '…')
	}
	return string(out)
}
