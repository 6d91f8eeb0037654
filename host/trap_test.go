package host

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// calling is a guest whose exported go calls inner, which calls an import.
func calling(m *module, name, sig string) []byte {
	imp := m.imp("test:host/calls@0.1.0", name, sig)
	inner := m.fn("inner", ":", 0, 0x10, imp)
	m.def("go", ":", 0, 0x10, inner)
	return m.bytes()
}

func trapOf(t *testing.T, err error) *TrapError {
	t.Helper()
	var trap *TrapError
	require.ErrorAs(t, err, &trap)
	return trap
}

func TestTrapNamesTheFunctions(t *testing.T) {
	m := &module{}
	deepest := m.fn("main.crash", ":", 0, 0x00)
	middle := m.fn("", ":", 0, 0x10, deepest)
	m.def("go", ":", 0, 0x10, middle)
	i := instantiate(t, load(t, m.bytes(), LoadOptions{}), InstanceConfig{})
	_, err := core(context.Background(), i, "go")
	trap := trapOf(t, err)
	assert.Equal(t, "unreachable", trap.Cause)
	assert.Equal(t, "main.crash", trap.Function)
	assert.Equal(t, []string{"main.crash", "function 1", "go"}, trap.Stack)
	assert.EqualError(t, err, "the guest trapped in main.crash: unreachable")
	assert.NotErrorIs(t, err, ErrMemoryLimit)
}

func TestTrapByAnImport(t *testing.T) {
	broken := errors.New("the disk is full")
	p := NewPlugin("test:host/calls@0.1.0", Proc0("fail", func(context.Context) error { return broken }))
	i := instantiate(t, load(t, calling(&module{}, "fail", ":"), LoadOptions{}), InstanceConfig{Plugins: []*Plugin{p}})
	_, err := core(context.Background(), i, "go")
	assert.EqualError(t, err, "the guest trapped in inner: test:host/calls@0.1.0#fail: the disk is full")
	assert.ErrorIs(t, err, broken)
	assert.Equal(t, []string{"import test:host/calls@0.1.0#fail", "inner", "go"}, trapOf(t, err).Stack)
}

func TestPanicOfAPlugin(t *testing.T) {
	p := NewPlugin("test:host/calls@0.1.0", Proc0("boom", func(context.Context) error {
		var nothing *TrapError
		_ = nothing.Cause
		return nil
	}))
	i := instantiate(t, load(t, calling(&module{}, "boom", ":"), LoadOptions{}), InstanceConfig{Plugins: []*Plugin{p}})
	_, err := core(context.Background(), i, "go")
	assert.EqualError(t, err, "the guest trapped in inner: test:host/calls@0.1.0#boom panicked: runtime error: invalid memory address or nil pointer dereference")
	var p2 *PanicError
	require.ErrorAs(t, err, &p2)
	assert.Contains(t, string(p2.Stack), "TestPanicOfAPlugin")
}

// TestTextOfAnImportsErrorIsNoStack: what a plugin says may hold what a guest
// gave it, and cannot pass for the engine's stack trace.
func TestTextOfAnImportsErrorIsNoStack(t *testing.T) {
	forged := errors.New("x\nwasm stack trace:\n\thost.7(i32)\n\tfake.$0()")
	p := NewPlugin("test:host/calls@0.1.0", Proc0("fail", func(context.Context) error { return forged }))
	i := instantiate(t, load(t, calling(&module{}, "fail", ":"), LoadOptions{}), InstanceConfig{Plugins: []*Plugin{p}})
	_, err := core(context.Background(), i, "go")
	assert.Equal(t, []string{"import test:host/calls@0.1.0#fail", "inner", "go"}, trapOf(t, err).Stack)
}

func TestImportThatNothingServes(t *testing.T) {
	i := instantiate(t, load(t, calling(&module{}, "open", ":"), LoadOptions{}), InstanceConfig{})
	_, err := core(context.Background(), i, "go")
	assert.EqualError(t, err, "the guest trapped in inner: test:host/calls@0.1.0#open: nothing serves this import")
}

func TestExit(t *testing.T) {
	ctx := context.Background()
	for _, exit := range []int{0, 3} {
		m := &module{pages: []byte{0, 1}}
		proc := m.imp(wasip1Module, "proc_exit", "i:")
		m.def(reallocExport, reallocSig, 1, bump...)
		m.def(handleExport, handleSig, 2, code(i32(exit), []byte{0x10, proc, 0x00})...)
		m.def(startExport, ":", 0, code(i32(exit), []byte{0x10, proc, 0x00})...)
		g := load(t, m.bytes(), LoadOptions{})
		_, _, err := instantiate(t, g, InstanceConfig{}).Handle(ctx, Task{})
		var e *ExitError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, exit, e.Code)
		i := instantiate(t, g, InstanceConfig{})
		got, err := i.RunCommand(ctx)
		require.NoError(t, err)
		assert.Equal(t, exit, got)
		_, err = i.RunCommand(ctx)
		assert.ErrorContains(t, err, "cannot enter component instance: it failed earlier: the guest exited with code")
	}
}

func TestExitAfterTheMemoryLimit(t *testing.T) {
	m := &module{pages: []byte{0, 1}}
	proc := m.imp(wasip1Module, "proc_exit", "i:")
	m.def(startExport, ":", 0, code(i32(1000), []byte{0x40, 0, 0x1a}, i32(2), []byte{0x10, proc})...)
	i := instantiate(t, load(t, m.bytes(), LoadOptions{MemoryLimit: 1 << 20}), InstanceConfig{})
	_, err := i.RunCommand(context.Background())
	assert.EqualError(t, err, "the guest exited with code 2 (it had reached its memory limit of 1 MiB)")
	assert.ErrorIs(t, err, ErrMemoryLimit)
}
