package adapt

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// list is a section: its items, and their number before them.
func list(id byte, items ...string) section {
	return section{id, append(uleb(nil, uint32(len(items))), strings.Join(items, "")...)}
}

// data is a segment of data at an address.
func data(at uint32, content string) string {
	return "\x00" + string(append(constant(nil, at), opEnd)) + string(sized([]byte(content)))
}

const pages = 2

// small is a module such as the Go toolchain links: it imports a function, has
// another one, and memory that is set aside after the address 1000.
func small() []section {
	return []section{
		list(sectionType, "\x60\x00\x00"),
		list(sectionImport, "\x01m\x01f\x00\x00"),
		list(sectionFunction, "\x00"),
		list(5, "\x00\x04"),
		list(sectionGlobal, "\x7f\x01\x41\x00\x0b"),
		list(sectionExport, "\x06memory\x02\x00"),
		list(sectionCode, "\x02\x00\x0b"),
		list(sectionData, data(8, "hello"), data(1000, "xyz"+mark+"\x02")),
	}
}

// start is the address after the mark.
const start = uint32(1000 + 3 + len(mark) + 1)

// replaced is the small module with another section.
func replaced(s section) []byte {
	all := small()
	for i := range all {
		if all[i].id == s.id {
			all[i] = s
		}
	}
	return join(all)
}

// instance runs an adapted module.
func instance(t *testing.T) api.Module {
	t.Helper()
	wasm, err := Module(join(small()))
	require.NoError(t, err)
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() { assert.NoError(t, r.Close(ctx)) })
	_, err = r.NewHostModuleBuilder("m").NewFunctionBuilder().WithFunc(func() {}).Export("f").Instantiate(ctx)
	require.NoError(t, err)
	m, err := r.Instantiate(ctx, wasm)
	require.NoError(t, err)
	return m
}

// allocation asks the function for memory.
func allocation(m api.Module, oldSize, align, size uint64) (uint32, error) {
	out, err := m.ExportedFunction(export).Call(context.Background(), 0, oldSize, align, size)
	if err != nil {
		return 0, err
	}
	return uint32(out[0]), nil
}

// The pages are all that is handed out, each aligned and none twice, and the rest
// of the module stays as it is.
func TestModule_handsOutThePages(t *testing.T) {
	m := instance(t)
	next := start
	for range pages {
		at, err := allocation(m, 0, 8, 64<<10)
		require.NoError(t, err)
		assert.Zero(t, at%8)
		assert.GreaterOrEqual(t, at, next)
		next = at + 64<<10
	}
	assert.LessOrEqual(t, next, start+pages<<16+slack)
	_, err := allocation(m, 0, 1, 16)
	assert.ErrorContains(t, err, "unreachable")
	text, _ := m.Memory().Read(8, 5)
	assert.Equal(t, "hello", string(text))
	assert.EqualValues(t, 4<<16, m.Memory().Size(), "nothing grows")
}

func TestModule_refusesWhatItHasNot(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		oldSize, align, size uint64
		ok                   bool
	}{
		{"everything", 0, 1, pages<<16 + slack, true},
		{"nothing", 0, 8, 0, true},
		{"more than all", 0, 1, pages<<16 + slack + 1, false},
		{"more than there are addresses", 0, 8, 0xffff_ffff, false},
		{"aligned to what is beyond", 0, 1 << 20, 1, false},
		{"aligned to all there is", 0, 1 << 31, 1, false},
		{"enlarge what is there", 8, 8, 16, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, err := allocation(instance(t), tt.oldSize, tt.align, tt.size)
			if tt.ok {
				require.NoError(t, err)
				assert.GreaterOrEqual(t, at, start)
				return
			}
			assert.ErrorContains(t, err, "unreachable")
		})
	}
}

func TestModule_refuses(t *testing.T) {
	adapted, err := Module(join(small()))
	require.NoError(t, err)
	for _, tt := range []struct {
		name string
		wasm []byte
		text string
	}{
		{"nothing", nil, "no core module"},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), "no core module"},
		{"an empty module", []byte(header), "no memory for the adapter"},
		{"a module of another SDK", replaced(list(sectionData, data(8, "hello"))), "no memory for the adapter"},
		{"a mark and nothing after it", replaced(list(sectionData, data(8, mark))), "no memory for the adapter"},
		{"two marks", replaced(list(sectionData, data(8, mark+"\x01"), data(99, mark+"\x01"))), "in two places"},
		{"data at an address from elsewhere", replaced(list(sectionData, "\x00\x23\x00\x0b\x00")), "no fixed address"},
		{"an imported memory", replaced(list(sectionImport, "\x01m\x01m\x02\x00\x01")), "imports what is no function"},
		{"a module that is adapted", adapted, "exports a cabi_realloc_adapter already"},
		{"a module without globals", join(slices.DeleteFunc(small(), func(s section) bool { return s.id == sectionGlobal })), "lacks a section"},
		{"a number that is too long", append([]byte(header), 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0), "malformed number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Module(tt.wasm)
			require.ErrorContains(t, err, "cannot make the module ready to be a component: ")
			assert.ErrorContains(t, err, tt.text)
		})
	}
}

func TestModule_cutShort(t *testing.T) {
	whole := join(small())
	for n := range whole {
		_, err := Module(whole[:n])
		assert.Error(t, err, "%d bytes", n)
	}
}

func TestConstant(t *testing.T) {
	for _, v := range []uint32{0, 1, 63, 64, 127, 128, 1 << 13, 1<<13 - 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_ffc0, 0xffff_ffbf} {
		r := reader{b: constant(nil, v)}
		assert.EqualValues(t, opConst, r.byte())
		assert.Equal(t, v, r.s32())
		assert.Empty(t, r.b)
		assert.NoError(t, r.err)
	}
}
