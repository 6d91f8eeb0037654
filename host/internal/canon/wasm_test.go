package canon

import "encoding/binary"

// A wasmModule writes a small core module, for tests against wazero itself.
type wasmModule struct {
	types, imports, funcs, exports, code [][]byte
}

func section(id byte, items [][]byte) []byte {
	body := binary.AppendUvarint(nil, uint64(len(items)))
	for _, it := range items {
		body = append(body, it...)
	}
	return append(binary.AppendUvarint([]byte{id}, uint64(len(body))), body...)
}

func wasmName(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

// fn adds a function type and returns its index.
func (m *wasmModule) fn(s Signature) byte {
	t := append([]byte{0x60}, wasmName(string(s.Params))...)
	m.types = append(m.types, append(t, wasmName(string(s.Results))...))
	return byte(len(m.types) - 1)
}

func (m *wasmModule) importFunc(module, name string, s Signature) {
	m.imports = append(m.imports, append(append(wasmName(module), wasmName(name)...), 0, m.fn(s)))
}

func (m *wasmModule) define(export string, s Signature, locals byte, code ...byte) {
	m.funcs = append(m.funcs, []byte{m.fn(s)})
	index := byte(len(m.imports) + len(m.funcs) - 1)
	m.exports = append(m.exports, append(wasmName(export), 0, index))
	decl := []byte{0}
	if locals > 0 {
		decl = []byte{1, locals, i32}
	}
	body := append(append(decl, code...), 0x0b)
	m.code = append(m.code, append(binary.AppendUvarint(nil, uint64(len(body))), body...))
}

// bytes is the module, with a memory of two pages and an i32 global 0 that
// begins at 4096.
func (m *wasmModule) bytes() []byte {
	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	out = append(out, section(1, m.types)...)
	out = append(out, section(2, m.imports)...)
	out = append(out, section(3, m.funcs)...)
	out = append(out, section(5, [][]byte{{0, 2}})...)
	out = append(out, section(6, [][]byte{{i32, 1, 0x41, 0x80, 0x20, 0x0b}})...)
	out = append(out, section(7, append(m.exports, append(wasmName("memory"), 2, 0)))...)
	return append(out, section(10, m.code)...)
}

// loopCode calls function 0 as often as local 0 says, with zeros for its
// arguments but the last, which is the address 1024. Each time it takes back what
// the allocator has given.
func loopCode(args int) []byte {
	code := []byte{
		0x03, 0x40, // loop
		0x41, 0x80, 0x20, 0x24, 0x00, // global.set 0 (i32.const 4096)
	}
	for range args - 1 {
		code = append(code, 0x41, 0x00) // i32.const 0
	}
	code = append(code,
		0x41, 0x80, 0x08, // i32.const 1024
		0x10, 0x00, // call 0
		0x20, 0x00, 0x41, 0x01, 0x6b, 0x22, 0x00, // local.tee 0 (local 0 - 1)
		0x0d, 0x00, // br_if 0
		0x0b, // end
	)
	return code
}

// bumpCode is a realloc that hands out memory in order: global 0, rounded up to
// 8, is the block, and moves past it.
var bumpCode = []byte{
	0x23, 0x00, 0x41, 0x07, 0x6a, 0x41, 0x78, 0x71, // (global 0 + 7) & -8
	0x22, 0x00, // local.tee 0
	0x20, 0x03, 0x6a, 0x24, 0x00, // global.set 0 (it + size)
	0x20, 0x00,
}
