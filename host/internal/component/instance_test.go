package component

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// callU32 calls an exported function of numbers.
func callU32(t testing.TB, i *Instance, name string, args ...uint64) (uint64, error) {
	t.Helper()
	f, ok := i.Func("", name)
	require.True(t, ok, name)
	values := make([]canon.Value, len(args))
	for n, a := range args {
		values[n] = canon.Bits(a)
	}
	var out canon.Value
	if err := f.Call(context.Background(), values, &out); err != nil {
		return 0, err
	}
	return out.Uint(), nil
}

// Instances of one load share nothing that a guest can change.
func TestInstantiate_concurrently(t *testing.T) {
	t.Parallel()
	c := loadCase(t, newRuntime(t), "resources.wast", 0)
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			i, err := c.Instantiate(context.Background(), InstanceConfig{})
			if !assert.NoError(t, err) {
				return
			}
			for k := range uint64(20) {
				got, err := callU32(t, i, "use", uint64(n)*100+k)
				assert.NoError(t, err)
				assert.Equal(t, (uint64(n)*100+k)*10, got)
			}
			assert.NoError(t, i.Close(context.Background()))
		})
	}
	all.Wait()
}

func TestInstance_trapPoisons(t *testing.T) {
	t.Parallel()
	c := loadCase(t, newRuntime(t), "calls.wast", 0)
	i, err := c.Instantiate(context.Background(), InstanceConfig{})
	require.NoError(t, err)
	require.NoError(t, i.Poisoned())
	stop, ok := i.Func("", "stop")
	require.True(t, ok)
	err = stop.Call(context.Background(), nil, nil)
	require.ErrorContains(t, err, "unreachable")
	require.ErrorContains(t, i.Poisoned(), "unreachable")
	_, err = callU32(t, i, "sum", 1, 2)
	assert.ErrorContains(t, err, "cannot enter component instance: it trapped earlier")
	require.NoError(t, i.Close(context.Background()))

	fresh, err := c.Instantiate(context.Background(), InstanceConfig{})
	require.NoError(t, err)
	got, err := callU32(t, fresh, "sum", 1, 2)
	require.NoError(t, err)
	assert.EqualValues(t, 3, got)
	require.NoError(t, fresh.Close(context.Background()))
}

// importing is a component that imports an interface with a resource and two
// functions.
func importing(version string) string {
	return preamble + section(7, "\x01\x42\x06\x04\x00\x04file\x03\x01\x01\x69\x00\x01\x40\x00\x00\x01\x04\x00\x04open\x01\x02"+
		"\x01\x40\x00\x01\x00\x04\x00\x04sync\x01\x03") +
		section(10, "\x01\x00"+string(appendName(nil, "own:fs/disk@"+version))+"\x05\x00")
}

func load(t *testing.T, data string) *Component {
	t.Helper()
	c, err := Load(context.Background(), newRuntime(t), []byte(data), Options{})
	require.NoError(t, err)
	return c
}

func TestInstantiate_missing(t *testing.T) {
	t.Parallel()
	c := load(t, importing("0.2.3"))
	_, err := c.Instantiate(context.Background(), InstanceConfig{Imports: Items{"own:net/socket@1.0.0": Items{}}})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, []string{"own:fs/disk@0.2.3"}, missing.Missing)
	assert.Equal(t, []string{"own:net/socket@1.0.0"}, missing.Have)
	assert.ErrorContains(t, err, "component imports instance `own:fs/disk@0.2.3`, but a matching implementation was not found")

	// A part of the interface is there, in another patch.
	_, err = c.Instantiate(context.Background(), InstanceConfig{Imports: Items{"own:fs/disk@0.2.0": Items{"file": &canon.Resource{}}}})
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, []string{"own:fs/disk@0.2.3#open", "own:fs/disk@0.2.3#sync"}, missing.Missing)
}

func TestInstantiate_stubs(t *testing.T) {
	t.Parallel()
	i, err := load(t, importing("0.2.3")).Instantiate(context.Background(), InstanceConfig{Stubs: true})
	require.NoError(t, err)
	require.NoError(t, i.Close(context.Background()))
}

func TestInstantiate_wrongType(t *testing.T) {
	t.Parallel()
	file := &canon.Resource{Name: "file"}
	own := func(r *canon.Resource) *canon.Type { return canon.OwnOf(&canon.ResourceType{Name: r.Name, Fixed: r}) }
	nothing := func([]canon.Value) (canon.Value, error) { return canon.Value{}, nil }
	sync := goFunc(t, "sync", nil, nil, nothing)
	for name, c := range map[string]struct {
		items Items
		want  string
	}{
		"not an instance": {nil, "expected instance found func"},
		"not a resource":  {Items{"file": sync}, "expected resource found func"},
		"not a function":  {Items{"file": file, "open": file}, "expected function found resource"},
		"other resource":  {Items{"file": file, "open": goFunc(t, "o", nil, own(&canon.Resource{}), nothing)}, "mismatched resource types"},
		"no result":       {Items{"file": file, "open": sync}, "type mismatch with result"},
		"parameters": {Items{"file": file, "open": goFunc(t, "o", nil, own(file), nothing),
			"sync": goFunc(t, "s", []*canon.Type{own(file)}, nil, nothing)}, "expected 0 parameters, found 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			imports := Items{"own:fs/disk@0.2.9": c.items}
			if c.items == nil {
				imports["own:fs/disk@0.2.9"] = sync
			}
			_, err := load(t, importing("0.2.3")).Instantiate(context.Background(), InstanceConfig{Imports: imports})
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestLoad_coreModuleRefused(t *testing.T) {
	t.Parallel()
	bad := fmt.Errorf("not today")
	_, err := Load(context.Background(), newRuntime(t), caseBinary(t, "calls.wast", 0),
		Options{Prepare: func([]byte) ([]byte, error) { return nil, bad }})
	require.ErrorIs(t, err, bad)
	assert.ErrorContains(t, err, "core module 0 at offset")
}

func TestLoad_progress(t *testing.T) {
	t.Parallel()
	var seen []int
	_, err := Load(context.Background(), newRuntime(t), caseBinary(t, "linking.wast", 1),
		Options{Compiling: func(n, total, size int) {
			assert.Positive(t, size)
			seen = append(seen, n, total)
		}})
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 2, 2}, seen)
}

// A host function may not call back into the guest that called it.
func TestFunc_reentrance(t *testing.T) {
	t.Parallel()
	c := loadCase(t, newRuntime(t), "reenter.wast", 0)
	var i *Instance
	back := goFunc(t, "back", nil, canon.Prim(canon.KindU32), func([]canon.Value) (canon.Value, error) {
		_, err := callU32(t, i, "go")
		return canon.Bits(0), err
	})
	i, err := c.Instantiate(context.Background(), InstanceConfig{Imports: Items{"host-return-two": back}})
	require.NoError(t, err)
	_, err = callU32(t, i, "go")
	assert.ErrorContains(t, err, "cannot enter component instance")
	require.NoError(t, i.Close(context.Background()))
}

// A trap of an unserved import names it, as a type that callers can look for.
func TestFunc_unserved(t *testing.T) {
	t.Parallel()
	i, err := loadCase(t, newRuntime(t), "reenter.wast", 0).Instantiate(context.Background(), InstanceConfig{Stubs: true})
	require.NoError(t, err)
	_, err = callU32(t, i, "go")
	var unserved *UnservedError
	require.ErrorAs(t, err, &unserved)
	assert.Equal(t, "host-return-two", unserved.Import)
	require.NoError(t, i.Close(context.Background()))
}

// A guest that loops ends with its context, if the engine checks for that.
func TestFunc_canceled(t *testing.T) {
	t.Parallel()
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfig().WithCloseOnContextDone(true))
	t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
	ctx, cancel := context.WithCancel(context.Background())
	two := goFunc(t, "two", nil, canon.Prim(canon.KindU32), func([]canon.Value) (canon.Value, error) { return canon.Bits(2), nil })
	i, err := loadCase(t, r, "reenter.wast", 0).Instantiate(ctx, InstanceConfig{Imports: Items{"host-return-two": two}})
	require.NoError(t, err)
	loop, ok := i.Func("", "loop")
	require.True(t, ok)
	cancel()
	err = loop.Call(ctx, nil, nil)
	require.ErrorIs(t, err, context.Canceled)
	assert.Error(t, i.Poisoned())
	require.NoError(t, i.Close(context.Background()))
}

// Nesting makes the number of instances exponential in the size of the file.
func TestInstantiate_tooManyInstances(t *testing.T) {
	t.Parallel()
	data := preamble
	for range 16 {
		data = preamble + section(4, data) + section(5, "\x02\x00\x00\x00\x00\x00\x00")
	}
	_, err := load(t, data).Instantiate(context.Background(), InstanceConfig{})
	assert.ErrorContains(t, err, "makes more than 10000 instances")
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	var r registry
	var all []*componentInstance
	for range 40 {
		i := &componentInstance{}
		i.id = r.put(i)
		all = append(all, i)
	}
	for _, i := range all {
		assert.Same(t, i, r.get(i.id))
	}
	r.drop(all[7].id)
	i := &componentInstance{}
	assert.Equal(t, all[7].id, r.put(i), "numbers are used again")
	assert.Same(t, i, r.get(all[7].id))
}

func TestInstantiate_memoryLimit(t *testing.T) {
	t.Parallel()
	c := loadCase(t, newRuntime(t), "shapes.wast", 0)
	_, err := c.Instantiate(context.Background(), InstanceConfig{Memory: 64<<16 - 1})
	require.ErrorContains(t, err, "the memories of the component take more than 4194303 bytes")
	i, err := c.Instantiate(context.Background(), InstanceConfig{Memory: 64 << 16})
	require.NoError(t, err)
	require.NoError(t, i.Close(context.Background()))
}
