package component

import "bytes"

var (
	magic         = []byte("\x00asm")
	layerModule   = []byte{1, 0, 0, 0}
	preambleBytes = 8
)

// version and layer of a component (Binary.md, preamble).
const (
	componentVersion = 0x0d
	componentLayer   = 1
)

// Form is what the first bytes of a file say it is.
type Form int

// Forms of a WebAssembly binary.
const (
	FormUnknown Form = iota
	FormModule
	FormComponent
)

// Detect tells a component from a core module by the preamble alone.
func Detect(data []byte) Form {
	if len(data) < preambleBytes || !bytes.HasPrefix(data, magic) {
		return FormUnknown
	}
	switch data[6] {
	case 0:
		return FormModule
	case componentLayer:
		return FormComponent
	}
	return FormUnknown
}

// decoder carries what holds for the whole binary.
type decoder struct {
	modules int
}

// decode reads a binary into definitions. It checks form, not meaning.
func decode(data []byte) (*rawComponent, error) {
	if len(data) > maxBytes {
		return nil, errorAt(0, "component of %d bytes is larger than the limit of %d", len(data), maxBytes)
	}
	r := newReader(data)
	d := &decoder{}
	c := d.component(r, 0)
	if r.err != nil {
		return nil, r.err
	}
	return c, nil
}

func (d *decoder) component(r *reader, depth int) *rawComponent {
	c := &rawComponent{at: r.pos, end: r.end}
	if depth > maxComponentDepth {
		r.fail("components nest deeper than %d", maxComponentDepth)
	}
	readPreamble(r)
	for r.more() {
		d.section(r, c, depth)
	}
	return c
}

// readPreamble checks the first eight bytes and says what to do when they
// belong to something else.
func readPreamble(r *reader) {
	if r.left() < preambleBytes {
		r.fail("unexpected end-of-file: a component starts with %d bytes, %d are left", preambleBytes, r.left())
		return
	}
	head := r.data[r.pos : r.pos+preambleBytes]
	switch {
	case !bytes.Equal(head[:4], magic):
		r.fail("magic header not detected: not a WebAssembly binary")
	case bytes.Equal(head[4:], layerModule):
		r.fail("expected a version header for a component: this is a core module (unknown binary version for a component: 0x1)")
	case head[6] != componentLayer || head[7] != 0:
		r.failAt(r.pos+6, "unknown binary version and layer: layer 0x%x, a component has layer 0x1", uint16(head[6])|uint16(head[7])<<8)
	case head[4] != componentVersion || head[5] != 0:
		r.failAt(r.pos+4, "unknown binary version 0x%x: this is a component of another draft, 0x%x is supported",
			uint16(head[4])|uint16(head[5])<<8, componentVersion)
	}
	if r.ok() {
		r.pos += preambleBytes
	}
}

// section reads one section and appends its definitions.
func (d *decoder) section(r *reader, c *rawComponent, depth int) {
	at := r.pos
	id := r.byte()
	if id > 12 {
		r.failAt(at, "malformed section id: %d", id)
		return
	}
	size := r.u32()
	s := r.sub(size)
	defer r.done(s)
	switch id {
	case 0:
		c.custom(s)
		return
	case 1:
		d.module(s, c)
		return
	case 4:
		c.add(s, &defComponent{pos: pos(s.pos), body: d.component(s, depth+1)})
		return
	case 9:
		s.failAt(at, "start definitions are not supported: the value feature of the component model is not active")
	}
	d.items(s, c, id)
	if s.ok() && s.pos != s.end {
		s.fail("section size mismatch: unexpected data at the end of the section")
	}
}

// items reads a section that is a vector of definitions.
func (d *decoder) items(s *reader, c *rawComponent, id byte) {
	n := s.count("definitions")
	for i := 0; i < n && s.ok(); i++ {
		at := pos(s.pos)
		switch id {
		case 2:
			c.add(s, readCoreInstance(s))
		case 3:
			c.add(s, &defCoreType{at, readCoreType(s, true)})
		case 5:
			c.add(s, readInstance(s))
		case 6:
			c.add(s, readAlias(s))
		case 7:
			c.add(s, &defType{at, readType(s, 0)})
		case 8:
			c.add(s, readCanon(s))
		case 10:
			c.add(s, &defImport{at, readExternName(s), readExtern(s)})
		case 11:
			c.add(s, readExport(s))
		case 12:
			s.fail("value definitions are not supported: the value feature of the component model is not active")
		}
	}
}

func (c *rawComponent) add(r *reader, d def) {
	if r.ok() {
		c.defs = append(c.defs, d)
	}
}

func (c *rawComponent) custom(s *reader) {
	name := s.name()
	if s.ok() {
		c.customs = append(c.customs, CustomSection{name, s.data[s.pos:s.end]})
		s.pos = s.end
	}
}

// module takes an embedded core module; its inside is read by the validator.
func (d *decoder) module(s *reader, c *rawComponent) {
	if d.modules++; d.modules > maxModules {
		s.fail("more than %d core modules", maxModules)
	}
	if s.left() < preambleBytes {
		s.fail("unexpected end-of-file in the preamble of a core module")
		return
	}
	head := s.data[s.pos : s.pos+preambleBytes]
	if !bytes.Equal(head[:4], magic) {
		s.fail("magic header not detected: bad magic number in a core module")
	} else if !bytes.Equal(head[4:], layerModule) {
		s.fail("expected a version header for a module")
	}
	c.add(s, &defModule{pos(s.pos), s.pos, s.end})
	s.pos = s.end
}
