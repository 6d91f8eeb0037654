package host

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ifBad runs code for messages that begin with b, and else echoes.
func ifBad(bad ...byte) []byte {
	return code(
		get(paramMessage), []byte{0x2d, 0, 0}, i32('b'), []byte{0x46, 0x04, 0x40}, // if message[0] == 'b'
		bad,
		[]byte{0x0b},
		echo,
	)
}

func ret(value ...byte) []byte { return append(value, 0x0f) }

// hostile are guests that do wrong when they are told to, and what is said of it.
var hostile = []struct {
	name string
	bad  []byte
	want string
	is   error
}{
	{"is unreachable", []byte{0x00}, "the guest trapped in " + handleExport + ": unreachable", nil},
	{"loops for ever", []byte{0x03, 0x40, 0x0c, 0, 0x0b}, "the guest reached its compute limit of 200ms (in " + handleExport + ")", ErrComputeLimit},
	{"recurses for ever", ret(code(get(0), get(1), get(2), get(3), get(4), get(5), get(6), get(7), []byte{0x10, 1})...), "stack overflow", nil},
	{"allocates for ever", []byte{0x03, 0x40, 0x41, 1, 0x40, 0, 0x41, 0x7f, 0x47, 0x0d, 0, 0x0b, 0x00}, "the guest trapped in " + handleExport + ": unreachable (it had reached its memory limit of 1 MiB)", ErrMemoryLimit},
	{"divides by zero", []byte{0x41, 1, 0x41, 0, 0x6d, 0x1a}, "integer divide by zero", nil},
	{"reads beyond its memory", code(i32(-1), []byte{0x28, 2, 0, 0x1a}), "out of bounds memory access", nil},
	{"calls nothing", code([]byte{0x41, 0, 0x41, 0, 0x41, 0, 0x41, 0, 0x41, 0, 0x11, 0, 0, 0x1a}), "invalid table access", nil},
	{"converts what is no number", code([]byte{0x43, 0, 0, 0xc0, 0x7f, 0xa8, 0x1a}), "invalid conversion to integer", nil},
	{"answers outside its memory", ret(i32(-16)...), "pointer out of bounds of memory", nil},
	{"answers at the end of its memory", ret(i32(65528)...), "pointer out of bounds of memory", nil},
	{"answers unaligned", ret(i32(9)...), "return pointer not aligned", nil},
	{"answers with a case that is none", ret(answer(2, i32(0), i32(0))...), "discriminant 2 out of range [0..2)", nil},
	{"answers with a string outside", ret(answer(0, i32(65000), i32(1000))...), "string pointer/length out of bounds of memory", nil},
	{"answers with a string of 4 GiB", ret(answer(0, i32(0), i32(-1))...), "string pointer/length out of bounds of memory", nil},
	{"answers with a string that wraps around", ret(answer(0, i32(-1), i32(-1))...), "string pointer/length out of bounds of memory", nil},
	{"answers with invalid UTF-8", ret(answer(0, i32(4000), i32(2))...), "invalid utf-8", nil},
}

func hostileGuest(bad []byte) []byte {
	m := handler(ifBad(bad...)...)
	m.table = true
	m.put(4000, 0xff, 0xfe)
	return m.bytes()
}

func TestHostileGuests(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t, Config{})
	for _, tt := range hostile {
		t.Run(tt.name, func(t *testing.T) {
			limit := LoadOptions{MemoryLimit: 1 << 20}
			if tt.is == ErrComputeLimit {
				limit.ComputeLimit = 200 * time.Millisecond
			}
			g, err := e.Load(ctx, hostileGuest(tt.bad), limit)
			require.NoError(t, err)
			i := instantiate(t, g, InstanceConfig{})
			_, _, err = i.Handle(ctx, Task{Message: "good"})
			require.NoError(t, err, "the control")

			_, _, err = i.Handle(ctx, Task{Message: "bad"})
			require.ErrorContains(t, err, tt.want)
			if tt.is != nil {
				assert.ErrorIs(t, err, tt.is)
			}
			var trap *TrapError
			assert.Equal(t, tt.is != ErrComputeLimit, errors.As(err, &trap))

			_, _, err = i.Handle(ctx, Task{Message: "good"})
			assert.ErrorContains(t, err, "cannot enter component instance: it failed earlier: ")
			assert.ErrorContains(t, err, tt.want)

			fresh := instantiate(t, g, InstanceConfig{})
			text, _, err := fresh.Handle(ctx, Task{Message: "good"})
			require.NoError(t, err)
			assert.Equal(t, "good", text)
		})
	}
}

// lyingReallocs are allocators that must not be believed.
var lyingReallocs = []struct {
	name string
	code []byte
	want string
}{
	{"gives what is outside", i32(-8), "realloc return: beyond end of memory"},
	{"gives the end", i32(65535), "realloc return: beyond end of memory"},
	{"traps", []byte{0x00}, "the guest trapped in " + reallocExport},
	{"loops", []byte{0x03, 0x40, 0x0c, 0, 0x0b, 0x00}, "the guest reached its compute limit"},
	{"divides by zero", []byte{0x41, 1, 0x41, 0, 0x6d}, "integer divide by zero"},
}

func TestReallocsThatLie(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t, Config{})
	for _, tt := range lyingReallocs {
		t.Run(tt.name, func(t *testing.T) {
			m := &module{pages: []byte{0, 1}}
			m.def(reallocExport, reallocSig, 1, tt.code...)
			m.def(handleExport, handleSig, 2, echo...)
			g, err := e.Load(ctx, m.bytes(), LoadOptions{ComputeLimit: 200 * time.Millisecond})
			require.NoError(t, err)
			_, _, err = instantiate(t, g, InstanceConfig{}).Handle(ctx, Task{Message: "hello"})
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// TestReallocsThatLieToAnImport: the same, for what an import answers.
func TestReallocsThatLieToAnImport(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t, Config{})
	p := NewPlugin("test:host/text", Func0("get", func(context.Context) (string, error) { return "hello", nil }))
	for _, tt := range lyingReallocs {
		t.Run(tt.name, func(t *testing.T) {
			m := &module{pages: []byte{0, 1}}
			text := m.imp("test:host/text", "get", "i:")
			m.def(reallocExport, reallocSig, 1, tt.code...)
			m.def("go", ":", 0, code(i32(16), []byte{0x10, text})...)
			g, err := e.Load(ctx, m.bytes(), LoadOptions{ComputeLimit: 200 * time.Millisecond})
			require.NoError(t, err)
			i := instantiate(t, g, InstanceConfig{Plugins: []*Plugin{p}})
			_, err = core(ctx, i, "go")
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestReallocIsNotCalledBeforeInitialize(t *testing.T) {
	ctx := context.Background()
	p := NewPlugin("test:host/text", Func0("get", func(context.Context) (string, error) { return "hello", nil }))
	m := &module{pages: []byte{0, 1}}
	text := m.imp("test:host/text", "get", "i:")
	m.def(reallocExport, reallocSig, 1, bump...)
	start := m.fn("start", ":", 0, code(i32(16), []byte{0x10, text})...)
	m.start = []byte{start}
	_, err := load(t, m.bytes(), LoadOptions{}).Instantiate(ctx, InstanceConfig{Plugins: []*Plugin{p}})
	assert.ErrorContains(t, err, "the guest's cabi_realloc cannot be called before its _initialize")

	m.start = nil
	m.export("_initialize", start)
	i := instantiate(t, load(t, m.bytes(), LoadOptions{}), InstanceConfig{Plugins: []*Plugin{p}})
	assert.True(t, i.ready, "the guest's own initialization may use it")
}

// TestImportsDuringRealloc: an allocator may call what is marked for it, and
// nothing if it is told so.
func TestImportsDuringRealloc(t *testing.T) {
	now := Func0("now", func(context.Context) (uint64, error) { return 7, nil })
	guest := func(o LoadOptions) *Guest {
		m := &module{pages: []byte{0, 1}}
		imp := m.imp("test:host/clock", "now", ":l")
		m.def(reallocExport, reallocSig, 1, code([]byte{0x10, imp, 0x1a}, bump)...)
		m.def(handleExport, handleSig, 2, echo...)
		return load(t, m.bytes(), o)
	}
	for _, tt := range []struct {
		name    string
		strict  bool
		item    Item
		refused bool
	}{
		{"an import", false, now, true},
		{"the clock", false, DuringRealloc(now), false},
		{"the clock, strictly", true, DuringRealloc(now), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			i := instantiate(t, guest(LoadOptions{StrictRealloc: tt.strict}), InstanceConfig{Plugins: []*Plugin{NewPlugin("test:host/clock", tt.item)}})
			_, _, err := i.Handle(context.Background(), Task{Message: "x"})
			if tt.refused {
				assert.ErrorContains(t, err, "cannot leave component instance: test:host/clock#now called during realloc")
			} else {
				assert.NoError(t, err)
			}
		})
	}
}

// TestStartCanBeInterrupted: a start function that never ends, and an
// _initialize.
func TestStartCanBeInterrupted(t *testing.T) {
	for _, how := range []string{"start", initializeExport} {
		m := &module{}
		loop := m.fn("forever", ":", 0, 0x03, 0x40, 0x0c, 0, 0x0b)
		if how == "start" {
			m.start = []byte{loop}
		} else {
			m.export(how, loop)
		}
		g := load(t, m.bytes(), LoadOptions{Name: "g", ComputeLimit: 100 * time.Millisecond})
		_, err := g.Instantiate(context.Background(), InstanceConfig{})
		assert.EqualError(t, err, "cannot start guest g: the guest reached its compute limit of 100ms (in forever)")
		assert.ErrorIs(t, err, ErrComputeLimit)
	}
}

func TestDataOutsideOfMemory(t *testing.T) {
	m := handler(echo...)
	m.put(65535, 1, 2, 3)
	_, err := load(t, m.bytes(), LoadOptions{Name: "g"}).Instantiate(context.Background(), InstanceConfig{})
	assert.EqualError(t, err, "cannot start guest g: data[0]: out of bounds memory access")
}
