package host

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A module writes a small core module. Imports come before functions.
type module struct {
	types, imports, funcs, exports, code, names, data [][]byte
	index                                             int // of the next function
	pages                                             []byte
	table                                             bool
	start                                             []byte
}

func wstr(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

func wsection(id byte, items [][]byte) []byte {
	if len(items) == 0 {
		return nil
	}
	b := slices.Concat(append([][]byte{binary.AppendUvarint(nil, uint64(len(items)))}, items...)...)
	return append([]byte{id}, wstr(string(b))...)
}

var valueTypes = map[rune]byte{'i': 0x7f, 'l': 0x7e, 'f': 0x7d, 'd': 0x7c, 'v': 0x7b}

// typ adds a type, as in "ii:i" for (i32, i32) -> i32.
func (m *module) typ(sig string) byte {
	t, list := []byte{0x60}, []byte{}
	for _, c := range sig {
		if c == ':' {
			t, list = append(t, wstr(string(list))...), nil
			continue
		}
		list = append(list, valueTypes[c])
	}
	m.types = append(m.types, append(t, wstr(string(list))...))
	return byte(len(m.types) - 1)
}

func (m *module) imp(mod, name, sig string) byte {
	m.imports = append(m.imports, slices.Concat(wstr(mod), wstr(name), []byte{0, m.typ(sig)}))
	m.index++
	return byte(m.index - 1)
}

// fn adds a function with some i32 locals, known to the name section by this name.
func (m *module) fn(name, sig string, locals byte, code ...byte) byte {
	m.funcs = append(m.funcs, []byte{m.typ(sig)})
	decl := []byte{0}
	if locals > 0 {
		decl = []byte{1, locals, 0x7f}
	}
	body := slices.Concat(decl, code, []byte{0x0b})
	m.code = append(m.code, []byte(wstr(string(body))))
	m.names = append(m.names, append(binary.AppendUvarint(nil, uint64(m.index)), wstr(name)...))
	m.index++
	return byte(m.index - 1)
}

func (m *module) export(name string, fn byte) {
	m.exports = append(m.exports, append(wstr(name), 0, fn))
}

// def is fn and export in one.
func (m *module) def(name, sig string, locals byte, code ...byte) byte {
	f := m.fn(name, sig, locals, code...)
	m.export(name, f)
	return f
}

// put has bytes in memory from the beginning.
func (m *module) put(at int, b ...byte) {
	offset := append([]byte{0}, i32(at)...)
	m.data = append(m.data, slices.Concat(offset, []byte{0x0b}, wstr(string(b))))
}

// i32 is i32.const n.
func i32(n int) []byte {
	b := []byte{0x41}
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func (m *module) bytes() []byte {
	out := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	sections := [][]byte{wsection(1, m.types), wsection(2, m.imports), wsection(3, m.funcs)}
	if m.table {
		sections = append(sections, []byte{4, 4, 1, 0x70, 0, 1})
	}
	if m.pages != nil {
		sections = append(sections, wsection(5, [][]byte{m.pages}), wsection(6, [][]byte{slices.Concat([]byte{0x7f, 1}, i32(4096), []byte{0x0b})}))
	}
	sections = append(sections, wsection(7, m.exports))
	if m.start != nil {
		sections = append(sections, append([]byte{8}, wstr(string(m.start))...))
	}
	sections = append(sections, wsection(10, m.code), wsection(11, m.data))
	names := slices.Concat(append([][]byte{binary.AppendUvarint(nil, uint64(len(m.names)))}, m.names...)...)
	custom := slices.Concat(wstr("name"), []byte{1}, wstr(string(names)))
	sections = append(sections, append([]byte{0}, wstr(string(custom))...))
	return slices.Concat(append([][]byte{out}, sections...)...)
}

// code joins pieces of code.
func code(parts ...[]byte) []byte { return slices.Concat(parts...) }

// bump is a realloc that hands out memory in order: global 0, rounded up to 8, is
// the block, and moves past it.
var bump = []byte{
	0x23, 0, 0x41, 7, 0x6a, 0x41, 0x78, 0x71, 0x22, 4, // local 4 = (global 0 + 7) & -8
	0x20, 3, 0x6a, 0x24, 0, // global 0 = local 4 + size
	0x20, 4,
}

const (
	handleExport = "murmur:task/handler@0.1.0#handle"
	handleSig    = "iiiiiiii:i"
	reallocSig   = "iiii:i"

	// The parameters of handle.
	paramMessage, paramMessageLen = 6, 7
)

// handler is a guest with a memory of one page and this code as its handle, which
// has two locals, 8 and 9.
func handler(handle ...byte) *module {
	m := &module{pages: []byte{0, 1}}
	m.def(reallocExport, reallocSig, 1, bump...)
	m.def(handleExport, handleSig, 2, handle...)
	return m
}

// answer is code that returns a result<string, string> at 8: its case, and the
// string that the two instructions leave.
func answer(isErr byte, ptr, length []byte) []byte {
	return code(
		i32(8), i32(int(isErr)), []byte{0x3a, 0, 0}, // i32.store8
		i32(8), ptr, []byte{0x36, 2, 4}, // i32.store offset=4
		i32(8), length, []byte{0x36, 2, 8},
		i32(8),
	)
}

func get(local byte) []byte { return []byte{0x20, local} }

// echo answers with the message.
var echo = answer(0, get(paramMessage), get(paramMessageLen))

func newEngine(t testing.TB, c Config) *Engine {
	t.Helper()
	e, err := NewEngine(context.Background(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	return e
}

func load(t testing.TB, wasm []byte, o LoadOptions) *Guest {
	t.Helper()
	g, err := newEngine(t, Config{}).Load(context.Background(), wasm, o)
	require.NoError(t, err)
	return g
}

func instantiate(t testing.TB, g *Guest, c InstanceConfig) *Instance {
	t.Helper()
	i, err := g.Instantiate(context.Background(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, i.Close(context.Background())) })
	return i
}

// core calls a function that the guest exports, as the host would in a call.
func core(ctx context.Context, i *Instance, name string, args ...uint64) ([]uint64, error) {
	c, err := i.enter(ctx)
	if err != nil {
		return nil, err
	}
	out, err := i.module.ExportedFunction(name).Call(c, args...)
	return out, i.leave(c, err)
}
