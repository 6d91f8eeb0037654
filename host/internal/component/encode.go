package component

import "encoding/binary"

// Writing of core modules: the import section that is renamed, and glue.

func appendName(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendSection(b []byte, id byte, contents []byte) []byte {
	b = append(b, id)
	b = binary.AppendUvarint(b, uint64(len(contents)))
	return append(b, contents...)
}

func appendValueTypes(b []byte, types []valueType) []byte {
	b = binary.AppendUvarint(b, uint64(len(types)))
	for _, t := range types {
		b = append(b, byte(t))
	}
	return b
}

func appendLimits(b []byte, l limits) []byte {
	flags := byte(0)
	if l.hasMax {
		flags |= 1
	}
	if l.shared {
		flags |= 2
	}
	if l.is64 {
		flags |= 4
	}
	b = binary.AppendUvarint(append(b, flags), l.min)
	if l.hasMax {
		b = binary.AppendUvarint(b, l.max)
	}
	return b
}

// appendExternType writes the type of an import that is not a function.
func appendExternType(b []byte, e coreExtern) []byte {
	b = append(b, byte(e.sort))
	switch e.sort {
	case sortCoreTable:
		return appendLimits(append(b, byte(e.table.elem)), e.table.limits)
	case sortCoreMemory:
		return appendLimits(b, e.memory)
	}
	mutable := byte(0)
	if e.global.mutable {
		mutable = 1
	}
	return append(b, byte(e.global.value), mutable)
}

// importModule is the module name of every import of a core module once it is
// renamed; the field name is the import's position. An import from the empty
// module name, which wazero refuses, is thereby gone.
const importModule = "i"

// renamed gives a core module's binary with its imports renamed.
func (m *coreModule) renamed(data []byte) []byte {
	if m.importEnd == 0 {
		return data[m.start:m.end]
	}
	section := binary.AppendUvarint(nil, uint64(len(m.descs)))
	for i, desc := range m.descs {
		section = appendName(section, importModule)
		section = appendName(section, positionName(i))
		section = append(section, desc...)
	}
	out := make([]byte, 0, m.end-m.start+len(section))
	out = append(out, data[m.start:m.importAt]...)
	out = appendSection(out, 2, section)
	return append(out, data[m.importEnd:m.end]...)
}
