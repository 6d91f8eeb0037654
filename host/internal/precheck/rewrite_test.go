package precheck_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	pre "github.com/murmur-capsule/murmur/host/internal/precheck"
)

func newRuntime(t testing.TB) wazero.Runtime {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(16).
		WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesExtendedConst))
	t.Cleanup(func() { require.NoError(t, r.Close(ctx)) })
	return r
}

func rewrite(t testing.TB, data []byte, o pre.Rewrite) pre.Rewritten {
	t.Helper()
	m, err := pre.Check(data, pre.Limits{})
	require.NoError(t, err)
	return m.Rewrite(o)
}

// instantiate makes an instance for the host to control.
func instantiate(t testing.TB, data []byte) (api.Module, pre.Rewritten) {
	t.Helper()
	w := rewrite(t, data, pre.Rewrite{Control: true})
	mod, err := newRuntime(t).Instantiate(context.Background(), w.Bytes)
	require.NoError(t, err)
	return mod, w
}

func interrupt(mod api.Module, w pre.Rewritten) {
	mod.ExportedGlobal(w.Interrupt).(api.MutableGlobal).Set(1)
}

func TestRewriteIsAcceptedByTheEngine(t *testing.T) {
	for _, o := range []pre.Rewrite{
		{EmptyModule: "empty"},
		{Functions: "host"},
		{Functions: "host", EmptyModule: "empty", Control: true, TableElements: 100},
	} {
		w := rewrite(t, everything(), o)
		c, err := newRuntime(t).CompileModule(context.Background(), w.Bytes)
		require.NoError(t, err)
		f := c.ImportedFunctions()
		require.Len(t, f, 2)
		module, name, _ := f[0].Import()
		if o.Functions != "" {
			assert.Equal(t, "host/0", module+"/"+name)
		} else {
			assert.Equal(t, "empty/", module+"/"+name)
		}
		_, err = pre.Check(w.Bytes, pre.Limits{})
		assert.NoError(t, err)
	}
}

func TestRewriteLeavesCustomSectionsOut(t *testing.T) {
	w := rewrite(t, module(section(0, str("name"), []byte("hostile")), section(1, vec())), pre.Rewrite{})
	assert.Equal(t, module(section(1, vec())), w.Bytes)
}

func TestRewriteIsTheSameEachTime(t *testing.T) {
	o := pre.Rewrite{Control: true, Functions: "host"}
	assert.Equal(t, rewrite(t, everything(), o), rewrite(t, everything(), o))
}

func TestRewriteOfNothing(t *testing.T) {
	mod, w := instantiate(t, header)
	assert.NotNil(t, mod.ExportedGlobal(w.Interrupt))
	assert.Empty(t, w.Start)
}

func TestRewriteFindsFreeNames(t *testing.T) {
	w := rewrite(t, module(
		section(1, vec([]byte{0x60, 0, 0})),
		section(3, vec([]byte{0})),
		section(5, vec([]byte{0, 1})),
		section(7, vec(cat(str("host interrupt"), []byte{2, 0}), cat(str("host interrupt 2"), []byte{2, 0}), cat(str("host start"), []byte{2, 0}))),
		section(8, []byte{0}),
		section(10, vec(fn())),
	), pre.Rewrite{Control: true})
	assert.Equal(t, "host interrupt 3", w.Interrupt)
	assert.Equal(t, "host start 2", w.Start)
}

// TestStartIsTheHostsToCall: the engine would run it where nothing can stop it.
func TestStartIsTheHostsToCall(t *testing.T) {
	mod, w := instantiate(t, module(
		section(1, vec([]byte{0x60, 0, 0})),
		section(3, vec([]byte{0})),
		section(6, vec([]byte{pre.I32, 1, 0x41, 0, 0x0b})),
		section(7, vec(cat(str("g"), []byte{3, 0}))),
		section(8, []byte{0}),
		section(10, vec(fn(0x41, 42, 0x24, 0))),
	))
	assert.Zero(t, mod.ExportedGlobal("g").Get())
	_, err := mod.ExportedFunction(w.Start).Call(context.Background())
	require.NoError(t, err)
	assert.EqualValues(t, 42, mod.ExportedGlobal("g").Get())
}

// endless are guests that never return by themselves.
var endless = map[string][]byte{
	"a loop":                      single(fn(0x03, 0x40, 0x0c, 0, 0x0b, 0x20, 0)),
	"a loop with a result":        single(fn(0x03, pre.I32, 0x0c, 0, 0x0b)),
	"a loop with a parameter":     single(fn(0x20, 0, 0x03, 0, 0x0c, 0, 0x0b)),
	"a loop in an if":             single(fn(0x41, 1, 0x04, 0x40, 0x03, 0x40, 0x41, 1, 0x0d, 0, 0x0b, 0x0b, 0x20, 0)),
	"a loop in a loop":            single(fn(0x03, 0x40, 0x03, 0x40, 0x0b, 0x0c, 0, 0x0b, 0x20, 0)),
	"calls that double each time": single(doubling(40)),
	"memory that is filled":       single(fn(0x03, 0x40, 0x41, 0, 0x41, 0, 0x41, 0x80, 0x80, 4, 0xfc, 11, 0, 0x0c, 0, 0x0b, 0x20, 0)),
	"memory that is full":         single(fn(0x03, 0x40, 0x41, 1, 0x40, 0, 0x1a, 0x0c, 0, 0x0b, 0x20, 0)),
}

// doubling calls itself twice, n deep: without a loop, and for longer than
// anybody waits.
func doubling(n byte) []byte {
	return fn(
		0x20, 0, 0x41, n, 0x4a, 0x04, pre.I32, 0x20, 0, 0x05, // if n < local 0 then local 0 else
		0x20, 0, 0x41, 1, 0x6a, 0x10, 0, 0x1a,
		0x20, 0, 0x41, 1, 0x6a, 0x10, 0,
		0x0b,
	)
}

func TestInterrupt(t *testing.T) {
	for name, data := range endless {
		t.Run(name, func(t *testing.T) {
			mod, w := instantiate(t, data)
			began := make(chan struct{})
			done := make(chan error)
			go func() {
				close(began)
				_, err := mod.ExportedFunction("f").Call(context.Background(), 0)
				done <- err
			}()
			<-began
			interrupt(mod, w)
			assert.ErrorContains(t, <-done, "wasm error: unreachable")
		})
	}
}

func TestChecksDoNotChangeWhatAGuestDoes(t *testing.T) {
	ctx := context.Background()
	sum := single(body([]byte{1, 1, pre.I32}, // the sum of 1 to n
		0x02, 0x40, 0x03, 0x40,
		0x20, 0, 0x45, 0x0d, 1,
		0x20, 1, 0x20, 0, 0x6a, 0x21, 1,
		0x20, 0, 0x41, 1, 0x6b, 0x21, 0,
		0x0c, 0, 0x0b, 0x0b, 0x20, 1))
	fib := single(fn(0x20, 0, 0x41, 2, 0x48, 0x04, pre.I32, 0x20, 0, 0x05,
		0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x20, 0, 0x41, 2, 0x6b, 0x10, 0, 0x6a, 0x0b))
	moving := single(body([]byte{0}, // n bytes of 7, copied, and the last of them
		0x41, 0, 0x41, 7, 0x20, 0, 0xfc, 11, 0,
		0x41, 0xe4, 0, 0x41, 0, 0x20, 0, 0xfc, 10, 0, 0,
		0x20, 0, 0x2d, 0, 99))
	for _, data := range [][]byte{sum, fib, moving, single(switchOf(300))} {
		plain, err := newRuntime(t).Instantiate(ctx, data)
		require.NoError(t, err)
		checked, _ := instantiate(t, data)
		for n := range uint64(20) {
			want, err := plain.ExportedFunction("f").Call(ctx, n)
			require.NoError(t, err)
			got, err := checked.ExportedFunction("f").Call(ctx, n)
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	}
}

func TestTablesAreBounded(t *testing.T) {
	ctx := context.Background()
	grow := func(table byte) []byte { return fn(0xd0, 0x70, 0x20, 0, 0xfc, 15, table) }
	w := rewrite(t, module(
		section(1, vec(i32Type)),
		section(3, vec([]byte{0}, []byte{0})),
		section(4, vec([]byte{0x70, 0, 1}, []byte{0x70, 1, 1, 5})),
		section(7, vec(cat(str("grow0"), []byte{0, 0}), cat(str("grow1"), []byte{0, 1}))),
		section(10, vec(grow(0), grow(1))),
	), pre.Rewrite{TableElements: 200})
	mod, err := newRuntime(t).Instantiate(ctx, w.Bytes)
	require.NoError(t, err)
	for _, tt := range []struct {
		fn   string
		by   uint64
		want int32
	}{{"grow0", 99, 1}, {"grow0", 1, -1}, {"grow1", 4, 1}, {"grow1", 1, -1}} {
		got, err := mod.ExportedFunction(tt.fn).Call(ctx, tt.by)
		require.NoError(t, err)
		assert.Equal(t, tt.want, int32(got[0]), "%s by %d", tt.fn, tt.by)
	}
}

func TestNames(t *testing.T) {
	m, err := pre.Check(everything(), pre.Limits{})
	require.NoError(t, err)
	names := m.Names()
	assert.Equal(t, "start", names.Function(2))
	assert.Equal(t, "main.run", names.Function(3))
	assert.Empty(t, names.Function(0))
	assert.Empty(t, names.Function(4))
	assert.Empty(t, pre.Names{}.Function(0))
}

// TestNamesAreHostile: a name section that is malformed is none, and a name is
// fit for one line.
func TestNamesAreHostile(t *testing.T) {
	nameOf := func(section0 ...[]byte) string {
		m, err := pre.Check(module(section(0, append([][]byte{str("name")}, section0...)...)), pre.Limits{})
		require.NoError(t, err)
		return m.Names().Function(0)
	}
	functions := func(name string) []byte { return vec(cat([]byte{0}, str(name))) }
	sub := func(id byte, content []byte) []byte { return cat([]byte{id}, u32(len(content)), content) }
	assert.Equal(t, "good", nameOf(sub(0, str("module")), sub(1, functions("good"))))
	assert.Equal(t, "a?b?[31mc", nameOf(sub(1, functions("a\nb\x1b[31mc"))))
	assert.Equal(t, "?", nameOf(sub(1, functions("\xff"))))
	long := nameOf(sub(1, functions(string(times(600, 'x')))))
	assert.Equal(t, string(times(500, 'x'))+"…", long)
	assert.Empty(t, nameOf([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f}))
	assert.Empty(t, nameOf(sub(1, []byte{0xff, 0xff, 0xff, 0xff, 0x0f})))
	assert.Empty(t, nameOf(sub(1, []byte{1, 0})))
	assert.Empty(t, nameOf([]byte{1}))
	assert.Empty(t, nameOf(sub(2, functions("a local"))))
}
