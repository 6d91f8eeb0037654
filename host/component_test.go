package host

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
)

type (
	none   struct{}
	number struct{ N uint32 }
	text   struct{ Text string }
)

// What the component text-attacks exports.
var (
	setRealloc = NewExport[number, Unit]("", "set-realloc")
	grow       = NewExport[number, int32]("", "grow")
	growOther  = NewExport[number, int32]("", "grow-other")
	spin       = NewExport[none, Unit]("", "spin")
	crash      = NewExport[none, Unit]("", "crash")
	callHost   = NewExport[number, uint32]("", "call")
	fetch      = NewExport[none, uint32]("", "fetch")
	vanish     = NewExport[none, Unit]("", "vanish")
	length     = NewExport[text, uint32]("", "length")
	fall       = NewExport[none, Unit]("", "fall")
)

// What the allocator of text-attacks does.
const (
	reallocTraps = iota + 1
	reallocSpins
	reallocGivesNonsense
	reallocAsksForTheTime
)

// calls is the plugin of text-attacks.
func calls(call func(ctx context.Context, n uint32) (uint32, error)) *Plugin {
	return NewPlugin("test:host/calls@0.1.4",
		Func1("call", call),
		Func0("fetch", func(context.Context) (string, error) { return "four", nil }),
		DuringRealloc(Func0("now", func(context.Context) (uint64, error) { return 1, nil })))
}

func attacks(t *testing.T, o LoadOptions, call func(ctx context.Context, n uint32) (uint32, error)) *Instance {
	t.Helper()
	o.Name = "attacks"
	return instantiate(t, load(t, fixtures.Wasm(t, "text-attacks"), o), InstanceConfig{Plugins: []*Plugin{calls(call)}})
}

func double(_ context.Context, n uint32) (uint32, error) { return 2 * n, nil }

func TestComponent(t *testing.T) {
	ctx := context.Background()
	i := attacks(t, LoadOptions{ComputeLimit: time.Minute}, double)
	for range 2 {
		n, err := callHost.Call(ctx, i, number{21})
		require.NoError(t, err)
		assert.EqualValues(t, 42, n)
		n, err = length.Call(ctx, i, text{"naïve"})
		require.NoError(t, err)
		assert.EqualValues(t, 6, n)
		n, err = fetch.Call(ctx, i, none{})
		require.NoError(t, err)
		assert.EqualValues(t, 4, n)
	}
}

func TestTrapsOfComponents(t *testing.T) {
	ctx := context.Background()
	broken := errors.New("the disk is full")
	fails := func(context.Context, uint32) (uint32, error) { return 0, broken }
	for name, tt := range map[string]struct {
		call    func(i *Instance) error
		message string
		stack   []string
	}{
		"in a core module": {
			func(i *Instance) error { _, err := crash.Call(ctx, i, none{}); return err },
			"the guest trapped in crashing: unreachable", []string{"crashing", "crash"},
		},
		"in a component within": {
			func(i *Instance) error { _, err := fall.Call(ctx, i, none{}); return err },
			"the guest trapped in deepest: unreachable", []string{"deepest", "over"},
		},
		"by a plugin": {
			func(i *Instance) error { _, err := callHost.Call(ctx, i, number{1}); return err },
			"the guest trapped in asking: test:host/calls@0.1.4#call: the disk is full",
			[]string{"import test:host/calls@0.1.0#call", "asking"},
		},
		"by an import that nothing serves": {
			func(i *Instance) error { _, err := vanish.Call(ctx, i, none{}); return err },
			"the guest trapped in vanishing: test:host/gone@1.0.0#vanish: nothing serves this import",
			[]string{"import test:host/gone@1.0.0#vanish", "vanishing"},
		},
		"in its allocator": {
			func(i *Instance) error {
				_, err := setRealloc.Call(ctx, i, number{reallocTraps})
				require.NoError(t, err)
				_, err = length.Call(ctx, i, text{"x"})
				return err
			},
			"the guest trapped in realloc.trap: realloc: unreachable", []string{"realloc.trap", "realloc"},
		},
		"in its allocator, for a plugin": {
			func(i *Instance) error {
				_, err := setRealloc.Call(ctx, i, number{reallocTraps})
				require.NoError(t, err)
				_, err = fetch.Call(ctx, i, none{})
				return err
			},
			"the guest trapped in realloc.trap: test:host/calls@0.1.4#fetch: realloc: wasm error: unreachable",
			[]string{"realloc.trap", "realloc", "import test:host/calls@0.1.0#fetch", "fetching"},
		},
		"by what its allocator gives": {
			func(i *Instance) error {
				_, err := setRealloc.Call(ctx, i, number{reallocGivesNonsense})
				require.NoError(t, err)
				_, err = length.Call(ctx, i, text{"x"})
				return err
			},
			"the guest trapped: length: realloc return: beyond end of memory", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := attacks(t, LoadOptions{}, fails)
			err := tt.call(i)
			trap := trapOf(t, err)
			assert.EqualError(t, err, tt.message)
			assert.Equal(t, tt.stack, trap.Stack)
			_, err = length.Call(ctx, i, text{"x"})
			assert.ErrorContains(t, err, "cannot enter component instance: it failed earlier: ")
		})
	}
}

func TestPanicOfAPluginOfAComponent(t *testing.T) {
	i := attacks(t, LoadOptions{}, func(context.Context, uint32) (uint32, error) { panic("oh") })
	_, err := callHost.Call(context.Background(), i, number{1})
	var p *PanicError
	require.ErrorAs(t, err, &p)
	assert.Equal(t, "test:host/calls@0.1.4#call", p.Import)
	assert.Equal(t, "oh", p.Value)
}

func TestExitOfAComponent(t *testing.T) {
	i := attacks(t, LoadOptions{}, func(context.Context, uint32) (uint32, error) { return 0, &ExitError{Code: 7} })
	_, err := callHost.Call(context.Background(), i, number{1})
	var exit *ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 7, exit.Code)
}

// The compute limit is there wherever the guest runs: in a call, in its allocator
// for what it is given and for what a plugin gives it, and as it starts.
func TestComputeLimitOfComponents(t *testing.T) {
	ctx := context.Background()
	limit := LoadOptions{ComputeLimit: 20 * time.Millisecond}
	for name, call := range map[string]func(i *Instance) error{
		"in a call":                   func(i *Instance) error { _, err := spin.Call(ctx, i, none{}); return err },
		"in its allocator":            func(i *Instance) error { _, err := length.Call(ctx, i, text{"x"}); return err },
		"in its allocator for a host": func(i *Instance) error { _, err := fetch.Call(ctx, i, none{}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			i := attacks(t, limit, double)
			_, err := setRealloc.Call(ctx, i, number{reallocSpins})
			require.NoError(t, err)
			assert.ErrorIs(t, call(i), ErrComputeLimit)
		})
	}
	t.Run("as it starts", func(t *testing.T) {
		_, err := load(t, fixtures.Wasm(t, "text-stuck"), limit).Instantiate(ctx, InstanceConfig{})
		assert.ErrorIs(t, err, ErrComputeLimit)
		assert.ErrorContains(t, err, "(in stuck)")
	})
}

// What a plugin takes is not the guest's time.
func TestWaitingIsNoComputing(t *testing.T) {
	i := attacks(t, LoadOptions{ComputeLimit: 50 * time.Millisecond}, func(ctx context.Context, n uint32) (uint32, error) {
		timer := time.NewTimer(150 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		return n, nil
	})
	_, err := callHost.Call(context.Background(), i, number{1})
	assert.NoError(t, err)
}

func TestCancelComponents(t *testing.T) {
	t.Run("while it computes", func(t *testing.T) {
		// On a busy machine the guest may not have begun when it is canceled.
		for wait := 10 * time.Millisecond; ; wait *= 2 {
			ctx, cancel := context.WithCancel(context.Background())
			i := attacks(t, LoadOptions{}, double)
			time.AfterFunc(wait, cancel)
			_, err := spin.Call(ctx, i, none{})
			require.ErrorIs(t, err, ErrCanceled)
			if strings.Contains(err.Error(), "(in spinning)") {
				return
			}
			require.Less(t, wait, 10*time.Second)
		}
	})
	t.Run("while the host works", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		i := attacks(t, LoadOptions{}, func(ctx context.Context, _ uint32) (uint32, error) {
			cancel()
			<-ctx.Done()
			return 0, nil
		})
		_, err := callHost.Call(ctx, i, number{1})
		assert.ErrorIs(t, err, ErrCanceled)
	})
	t.Run("while it starts", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(10*time.Millisecond, cancel)
		_, err := load(t, fixtures.Wasm(t, "text-stuck"), LoadOptions{}).Instantiate(ctx, InstanceConfig{})
		assert.ErrorIs(t, err, ErrCanceled)
	})
	t.Run("by closing it", func(t *testing.T) {
		var i *Instance
		i = attacks(t, LoadOptions{}, func(ctx context.Context, _ uint32) (uint32, error) { return 0, i.Close(ctx) })
		_, err := callHost.Call(context.Background(), i, number{1})
		assert.ErrorIs(t, err, ErrClosed)
		assert.Empty(t, i.memory.all)
	})
}

// A component's memories have one limit together.
func TestMemoryLimitOfComponents(t *testing.T) {
	ctx := context.Background()
	i := attacks(t, LoadOptions{MemoryLimit: 5 * pageSize}, double)
	for _, g := range []*Export[number, int32]{grow, growOther, grow} {
		_, err := g.Call(ctx, i, number{1})
		require.NoError(t, err)
	}
	got, err := growOther.Call(ctx, i, number{1})
	require.NoError(t, err)
	assert.EqualValues(t, -1, got)
	_, err = crash.Call(ctx, i, none{})
	assert.ErrorIs(t, err, ErrMemoryLimit)

	_, err = load(t, fixtures.Wasm(t, "text-attacks"), LoadOptions{MemoryLimit: pageSize}).
		Instantiate(ctx, InstanceConfig{Plugins: []*Plugin{calls(double)}})
	assert.ErrorContains(t, err, "the memories of the component take more than 65536 bytes")
}

// A guest that is not strictly kept may ask for the time in its allocator.
func TestStrictRealloc(t *testing.T) {
	ctx := context.Background()
	for _, strict := range []bool{false, true} {
		i := attacks(t, LoadOptions{StrictRealloc: strict}, double)
		_, err := setRealloc.Call(ctx, i, number{reallocAsksForTheTime})
		require.NoError(t, err)
		_, err = length.Call(ctx, i, text{"x"})
		if strict {
			assert.ErrorContains(t, err, "cannot leave component instance")
		} else {
			assert.NoError(t, err)
		}
	}
}

func TestLinkComponents(t *testing.T) {
	ctx := context.Background()
	g := load(t, fixtures.Wasm(t, "text-attacks"), LoadOptions{Name: "g"})
	other := NewPlugin("test:host/calls@0.1.0", Func1("call", func(context.Context, string) (uint32, error) { return 0, nil }))
	_, err := g.Instantiate(ctx, InstanceConfig{Plugins: []*Plugin{other}})
	assert.EqualError(t, err, "cannot start guest g: component imports instance `test:host/calls@0.1.0`, which cannot be linked: "+
		"export `call` has the wrong type: type mismatch with parameter 1 (`n`): expected `u32` found `string`")
	assert.Equal(t, []Service{
		{Import: "test:host/calls@0.1.0", By: "test:host/calls@0.1.0", Missing: []string{"fetch", "now"}, Err: g.Services([]*Plugin{other})[0].Err},
		{Import: "test:host/gone@1.0.0"},
	}, g.Services([]*Plugin{other}))
	assert.ErrorContains(t, g.Services([]*Plugin{other})[0].Err, "expected `u32` found `string`")
	assert.NoError(t, g.Services([]*Plugin{calls(double)})[0].Err)

	bad := NewPlugin("test:host/calls@0.1.0", Func0("call", func(context.Context) (map[string]int, error) { return nil, nil }))
	_, err = g.Instantiate(ctx, InstanceConfig{Plugins: []*Plugin{bad}})
	assert.ErrorContains(t, err, "cannot use plugin")

	near := NewPlugin("test:host/gone@2.0.0")
	i := instantiate(t, g, InstanceConfig{Plugins: []*Plugin{near, calls(double)}})
	_, err = vanish.Call(ctx, i, none{})
	assert.ErrorContains(t, err, "test:host/gone@1.0.0#vanish: nothing serves this import; the host has test:host/gone@2.0.0")
}

func TestWaysOfComponents(t *testing.T) {
	for name, want := range map[string]Way{
		"text-runner": Handler, "text-looper": Looper, "text-command": Command, "c-component": Handler, "c-plugged": Handler,
	} {
		g := load(t, fixtures.Wasm(t, name), LoadOptions{})
		assert.True(t, g.IsComponent())
		way, err := g.Way()
		require.NoError(t, err, name)
		assert.Equal(t, want, way, name)
	}
	_, err := load(t, fixtures.Wasm(t, "text-attacks"), LoadOptions{}).Way()
	assert.ErrorContains(t, err, "the guest takes no work: it exports none of murmur:task/handler@0.1.0#handle, "+
		"murmur:capsule/run@0.1.0#run and wasi:cli/run@0.2.0#run; it exports set-realloc, grow, ")
	g := load(t, []byte("\x00asm\x0d\x00\x01\x00"), LoadOptions{})
	_, err = g.Way()
	assert.ErrorContains(t, err, "it exports nothing")
}

func TestExportsOfComponentsThatDoNotFit(t *testing.T) {
	ctx := context.Background()
	i := attacks(t, LoadOptions{}, double)
	_, err := NewExport[none, Unit]("", "fly").Call(ctx, i, none{})
	assert.EqualError(t, err, "guest attacks does not export fly")
	_, err = NewExport[text, Unit]("", "call").Call(ctx, i, text{})
	assert.ErrorContains(t, err, "the component exports `call` with another type")
	_, _, err = i.Handle(ctx, Task{})
	assert.ErrorContains(t, err, "is no handler")
	_, err = callHost.Call(ctx, i, number{1})
	assert.NoError(t, err, "the instance is as it was")
}

// One guest has any number of instances, at the same time.
func TestConcurrentInstancesOfAComponent(t *testing.T) {
	ctx := context.Background()
	g := load(t, fixtures.Wasm(t, "text-attacks"), LoadOptions{ComputeLimit: time.Minute})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			i, err := g.Instantiate(ctx, InstanceConfig{Plugins: []*Plugin{calls(double)}})
			if !assert.NoError(t, err) {
				return
			}
			for n := range uint32(50) {
				got, err := callHost.Call(ctx, i, number{n})
				assert.NoError(t, err)
				assert.Equal(t, 2*n, got)
			}
			assert.NoError(t, i.Close(ctx))
		})
	}
	all.Wait()
}

func TestCacheOfComponents(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	wasm := fixtures.Wasm(t, "text-runner")
	for range 2 {
		e, err := NewEngine(ctx, Config{CacheDir: dir})
		require.NoError(t, err)
		g, err := e.Load(ctx, wasm, LoadOptions{})
		require.NoError(t, err)
		assert.True(t, e.cache.entry(keyOf(wasm)).sound())
		i := instantiate(t, g, InstanceConfig{})
		text, _, err := i.Handle(ctx, Task{Origin: 4, Message: "back"})
		require.NoError(t, err)
		assert.Equal(t, "back", text)
		require.NoError(t, e.Close(ctx))
	}
}

func TestComponentFiles(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t, Config{})
	wasm := fixtures.Wasm(t, "text-runner")
	_, err := e.Load(ctx, wasm[:len(wasm)-9], LoadOptions{})
	var file *ComponentFileError
	assert.ErrorAs(t, err, &file)
	_, err = e.Load(ctx, []byte("\x00asm\x0a\x00\x01\x00"), LoadOptions{})
	assert.ErrorContains(t, err, "version")
	_, err = e.Load(ctx, fixtures.Wasm(t, "text-package"), LoadOptions{})
	assert.ErrorIs(t, err, errPackage)
}

func TestInspect(t *testing.T) {
	info, err := Inspect(fixtures.Wasm(t, "c-component"))
	require.NoError(t, err)
	require.NotNil(t, info.Component)
	assert.NotEmpty(t, info.Component.Modules)
	info, err = Inspect(fixtures.Wasm(t, "c-runner"))
	require.NoError(t, err)
	assert.Nil(t, info.Component)
	assert.Equal(t, []FuncInfo{{"murmur:tool/run@0.1.0", "run", "(i32, i32, i32, i32, i32, i32, i32) -> ()"}}, info.Imports)
	assert.Len(t, info.Exports, 3)
	assert.Contains(t, info.Module.Producers[0].Name, "clang")
	_, err = Inspect([]byte("#!/bin/sh"))
	assert.Error(t, err)
}
