package host

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// bareMemory is a guest of memory alone.
type bareMemory []byte

func (m bareMemory) View() []byte { return m }

func bareBinding() (*canon.Binding, bareMemory) {
	m := make(bareMemory, 256)
	return &canon.Binding{Instance: canon.NewInstance(nil, canon.Limits{}), Memory: m}, m
}

// callPlugin serves one call as a guest's would be.
func callPlugin(t *testing.T, p *Plugin, b *canon.Binding, name string, stack ...uint64) ([]uint64, error) {
	t.Helper()
	require.NoError(t, p.Err())
	f := p.function(name)
	require.NotNil(t, f, name)
	sig := f.Type().Lower()
	require.Len(t, stack, len(sig.Params))
	if len(stack) < len(sig.Results) {
		stack = make([]uint64, len(sig.Results))
	}
	err := f.Call(context.Background(), b, p.state, stack)
	return stack, err
}

func TestPluginFunctionsOfEveryArity(t *testing.T) {
	type ctx = context.Context
	var seen []uint32
	note := func(v ...uint32) (uint32, error) {
		seen = append([]uint32(nil), v...)
		return uint32(len(v)), nil
	}
	p := NewPlugin("a:b/c@0.1.0",
		Func0("f0", func(ctx) (uint32, error) { return note() }),
		Func1("f1", func(_ ctx, a uint32) (uint32, error) { return note(a) }),
		Func2("f2", func(_ ctx, a, b uint32) (uint32, error) { return note(a, b) }),
		Func3("f3", func(_ ctx, a, b, c uint32) (uint32, error) { return note(a, b, c) }),
		Func4("f4", func(_ ctx, a, b, c, d uint32) (uint32, error) { return note(a, b, c, d) }),
		Func5("f5", func(_ ctx, a, b, c, d, e uint32) (uint32, error) { return note(a, b, c, d, e) }),
		Func6("f6", func(_ ctx, a, b, c, d, e, f uint32) (uint32, error) { return note(a, b, c, d, e, f) }),
		Func7("f7", func(_ ctx, a, b, c, d, e, f, g uint32) (uint32, error) { return note(a, b, c, d, e, f, g) }),
		Func8("f8", func(_ ctx, a, b, c, d, e, f, g, h uint32) (uint32, error) { return note(a, b, c, d, e, f, g, h) }),
		Proc0("p0", func(ctx) error { _, err := note(); return err }),
		Proc1("p1", func(_ ctx, a uint32) error { _, err := note(a); return err }),
		Proc2("p2", func(_ ctx, a, b uint32) error { _, err := note(a, b); return err }),
		Proc3("p3", func(_ ctx, a, b, c uint32) error { _, err := note(a, b, c); return err }),
		Proc4("p4", func(_ ctx, a, b, c, d uint32) error { _, err := note(a, b, c, d); return err }),
		Proc5("p5", func(_ ctx, a, b, c, d, e uint32) error { _, err := note(a, b, c, d, e); return err }),
		Proc6("p6", func(_ ctx, a, b, c, d, e, f uint32) error { _, err := note(a, b, c, d, e, f); return err }),
		Proc7("p7", func(_ ctx, a, b, c, d, e, f, g uint32) error { _, err := note(a, b, c, d, e, f, g); return err }),
		Proc8("p8", func(_ ctx, a, b, c, d, e, f, g, h uint32) error { _, err := note(a, b, c, d, e, f, g, h); return err }),
	)
	b, _ := bareBinding()
	for n := range 9 {
		args := make([]uint64, n)
		want := []uint32(nil)
		for i := range args {
			args[i] = uint64(10 * i)
			want = append(want, uint32(10*i))
		}
		out, err := callPlugin(t, p, b, "f"+string(rune('0'+n)), append([]uint64(nil), args...)...)
		require.NoError(t, err)
		assert.EqualValues(t, n, out[0])
		assert.Equal(t, want, seen)
		seen = nil
		_, err = callPlugin(t, p, b, "p"+string(rune('0'+n)), args...)
		require.NoError(t, err)
		assert.Equal(t, want, seen)
	}
}

// counter is the state of a plugin whose functions are its methods.
type counter struct{ n uint32 }

func (c *counter) add0(context.Context) (uint32, error) { return c.sum() }
func (c *counter) add1(_ context.Context, a uint32) (uint32, error) {
	return c.sum(a)
}
func (c *counter) add2(_ context.Context, a, b uint32) (uint32, error) {
	return c.sum(a, b)
}
func (c *counter) add3(_ context.Context, a, b, d uint32) (uint32, error) {
	return c.sum(a, b, d)
}
func (c *counter) add4(_ context.Context, a, b, d, e uint32) (uint32, error) {
	return c.sum(a, b, d, e)
}
func (c *counter) add5(_ context.Context, a, b, d, e, f uint32) (uint32, error) {
	return c.sum(a, b, d, e, f)
}
func (c *counter) add6(_ context.Context, a, b, d, e, f, g uint32) (uint32, error) {
	return c.sum(a, b, d, e, f, g)
}
func (c *counter) add7(_ context.Context, a, b, d, e, f, g, h uint32) (uint32, error) {
	return c.sum(a, b, d, e, f, g, h)
}
func (c *counter) add8(_ context.Context, a, b, d, e, f, g, h, i uint32) (uint32, error) {
	return c.sum(a, b, d, e, f, g, h, i)
}

func (c *counter) sum(all ...uint32) (uint32, error) {
	for _, v := range all {
		c.n += v
	}
	return c.n, nil
}

func TestPluginState(t *testing.T) {
	p := NewPlugin("a:b/c@0.1.0",
		Method0("add0", (*counter).add0), Method1("add1", (*counter).add1), Method2("add2", (*counter).add2),
		Method3("add3", (*counter).add3), Method4("add4", (*counter).add4), Method5("add5", (*counter).add5),
		Method6("add6", (*counter).add6), Method7("add7", (*counter).add7), Method8("add8", (*counter).add8))
	b, _ := bareBinding()
	one, two := p.With(&counter{n: 100}), p.With(&counter{n: 200})
	want := uint64(100)
	for n := range 9 {
		args := make([]uint64, n)
		for i := range args {
			args[i] = 1
		}
		want += uint64(n)
		out, err := callPlugin(t, one, b, "add"+string(rune('0'+n)), args...)
		require.NoError(t, err)
		assert.Equal(t, want, out[0])
	}
	out, err := callPlugin(t, two, b, "add1", 5)
	require.NoError(t, err)
	assert.EqualValues(t, 205, out[0], "each instance has its own state")
	for n := range 9 {
		_, err = callPlugin(t, p, b, "add"+string(rune('0'+n)), make([]uint64, n)...)
		assert.ErrorContains(t, err, "the plugin has a <nil> as its state (see Plugin.With), not a *host.counter")
	}
}

func TestPluginErrorIsATrap(t *testing.T) {
	broken := errors.New("the disk is full")
	p := NewPlugin("a:b/c@0.1.0", Proc0("save", func(context.Context) error { return broken }))
	b, _ := bareBinding()
	_, err := callPlugin(t, p, b, "save")
	assert.ErrorIs(t, err, broken)
	assert.EqualError(t, err, "a:b/c@0.1.0#save: the disk is full")
}

func TestPluginsThatAreWrong(t *testing.T) {
	run := func(context.Context, string) (Unit, error) { return Unit{}, nil }
	for want, p := range map[string]*Plugin{
		"cannot use plugin a:b/c: function run is there twice": NewPlugin("a:b/c", Func1("run", run), Func1("run", run)),
		"cannot use plugin a:b/c: function run: cannot tell the WIT type of Go int: there is none for int": NewPlugin("a:b/c",
			Func0("run", func(context.Context) (int, error) { return 0, nil })),
		"cannot use plugin a:b/c: resource r is there twice": NewPlugin("a:b/c",
			NewResource[*counter]("r", nil), NewResource[string]("r", nil)),
		"cannot use plugin a:b/c: resources r and s are both values of string": NewPlugin("a:b/c",
			NewResource[string]("r", nil), NewResource[string]("s", nil)),
		"cannot use plugin a:b/c: function run: cannot tell the WIT type of Go canon.Own[string]: no resource is defined for string": NewPlugin("a:b/c",
			Func0("run", func(context.Context) (Own[string], error) { return Own[string]{}, nil })),
	} {
		assert.EqualError(t, p.Err(), want)
	}
}

// lines is the value of a resource: text that is read line by line.
type lines struct {
	left   []uint32
	closed bool
}

func TestPluginResources(t *testing.T) {
	ctx := context.Background()
	file := NewResource("lines", func(l *lines) { l.closed = true })
	var last *lines
	p := NewPlugin("a:b/files@0.2.1",
		Func1("[constructor]lines", func(_ context.Context, first uint32) (Own[*lines], error) {
			last = &lines{left: []uint32{first, first + 1}}
			return Own[*lines]{Value: last}, nil
		}),
		Func1("[method]lines.next", func(_ context.Context, self Borrow[*lines]) (Option[uint32], error) {
			l := self.Value
			if len(l.left) == 0 {
				return Option[uint32]{}, nil
			}
			v := l.left[0]
			l.left = l.left[1:]
			return Some(v), nil
		}),
		file,
	)
	b, mem := bareBinding()
	out, err := callPlugin(t, p, b, "[constructor]lines", 7)
	require.NoError(t, err)
	require.EqualValues(t, 1, out[0])
	for _, want := range []uint64{1 | 7<<32, 1 | 8<<32, 0} {
		clear(mem)
		_, err := callPlugin(t, p, b, "[method]lines.next", 1, 16)
		require.NoError(t, err)
		assert.Equal(t, want, binary.LittleEndian.Uint64(mem[16:]))
	}
	_, err = callPlugin(t, p, b, "[method]lines.next", 9, 16)
	assert.ErrorContains(t, err, "unknown handle index 9")

	// Another plugin uses the resource: it is the same type there.
	q := NewPlugin("a:b/users@0.2.0", file.Used(),
		Func1("take", func(_ context.Context, l Own[*lines]) (uint32, error) { return uint32(len(l.Value.left)), nil }))
	require.NoError(t, q.Err())
	assert.Equal(t, []string{"take: func(p0: own<lines>) -> u32"}, q.Functions())
	assert.Same(t, p.resource("lines"), q.resource("lines"))

	require.False(t, last.closed)
	_, err = callPlugin(t, p, b, "[resource-drop]lines", 1)
	require.NoError(t, err)
	assert.True(t, last.closed)
	assert.Nil(t, p.function("[resource-drop]other"))
	assert.Nil(t, p.function("lines"))

	_, err = callPlugin(t, p, b, "[constructor]lines", 7)
	require.NoError(t, err)
	require.NoError(t, b.Instance.Close(ctx))
	assert.True(t, last.closed, "what a guest leaves behind is dropped with it")
}

func TestResourceWithoutDestructor(t *testing.T) {
	p := NewPlugin("a:b/c", NewResource[string]("r", nil),
		Func0("make", func(context.Context) (Own[string], error) { return Own[string]{Value: "x"}, nil }))
	b, _ := bareBinding()
	_, err := callPlugin(t, p, b, "make")
	require.NoError(t, err)
	_, err = callPlugin(t, p, b, "[resource-drop]r", 1)
	assert.NoError(t, err)
}

func TestPluginTellsItsTypes(t *testing.T) {
	type record struct {
		Name string
		Size uint64
	}
	p := NewPlugin("a:b/c@0.1.0", Func1("put", func(context.Context, record) (Result[Unit, string], error) {
		return Result[Unit, string]{}, nil
	}))
	assert.Equal(t, []string{"put: func(p0: record {name: string, size: u64}) -> result<_, string>"}, p.Functions())
}

func TestFindPlugin(t *testing.T) {
	var plugins []*Plugin
	for _, name := range []string{"a:b/c@0.2.1", "a:b/c@0.2.7", "a:b/c@0.2.7", "a:b/d@0.2.0"} {
		plugins = append(plugins, NewPlugin(name))
	}
	assert.Same(t, plugins[0], findPlugin(plugins, "a:b/c@0.2.1"))
	assert.Same(t, plugins[1], findPlugin(plugins, "a:b/c@0.2.0"), "the highest version, and the first of two")
	assert.Nil(t, findPlugin(plugins, "a:b/c@0.3.0"))
	assert.Nil(t, findPlugin(nil, "a:b/c@0.3.0"))
	assert.Equal(t, "a:b/d@0.2.0", plugins[3].Name())
}

func TestDuringRealloc(t *testing.T) {
	type ctx = context.Context
	now := Func0("now", func(ctx) (uint64, error) { return 5, nil })
	timer := NewResource[string]("timer", nil)
	lenientTimer := NewResource[string]("timer", nil)
	used := timer.Used()
	assert.Equal(t, used, DuringRealloc(used))
	plugins := map[string]*Plugin{
		"strict":  NewPlugin("a:b/c", now, timer),
		"lenient": NewPlugin("a:b/c", DuringRealloc(now), DuringRealloc(lenientTimer)),
	}
	text := NewPlugin("a:b/text", Func0("get", func(ctx) (string, error) { return "x", nil }))
	for name, plugin := range plugins {
		for function, args := range map[string][]uint64{"now": nil, "[resource-drop]timer": {1}} {
			t.Run(name+" "+function, func(t *testing.T) {
				b, _ := bareBinding()
				_, err := b.Instance.Handles.New(plugin.resource("timer").Fixed, canon.Rep{Go: "x"})
				require.NoError(t, err)
				var inner error
				b.Realloc = &fakeRealloc{func(stack []uint64) {
					_, inner = callPlugin(t, plugin, b, function, args...)
					stack[0] = 128
				}}
				_, err = callPlugin(t, text, b, "get", 16)
				require.NoError(t, err)
				if name == "lenient" {
					assert.NoError(t, inner)
				} else {
					assert.EqualError(t, inner, "cannot leave component instance: a:b/c#"+function+" called during realloc")
				}
			})
		}
	}
}

type fakeRealloc struct{ f func(stack []uint64) }

func (r *fakeRealloc) CallWithStack(_ context.Context, stack []uint64) error {
	r.f(stack)
	return nil
}

func TestTypeText(t *testing.T) {
	type request struct {
		Path  string `wit:"file-path"`
		Modes []Char
		Tags  Map[string, Result[Unit, uint8]]
	}
	text, err := TypeText[request]()
	require.NoError(t, err)
	assert.Equal(t, "record {file-path: string, modes: list<char>, tags: map<string, result<_, u8>>}", text)
	_, err = TypeText[uintptr]()
	assert.EqualError(t, err, "cannot tell the WIT type of Go uintptr: there is none for uintptr")
	assert.Equal(t, Result[uint8, string]{OK: 1}, Ok[uint8, string](1))
	assert.Equal(t, Result[uint8, string]{IsErr: true, Err: "no"}, Fail[uint8]("no"))
}
