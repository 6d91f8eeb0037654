package wasi_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/wasi"
)

// The guests below are core modules that import WASI's interfaces, in a version
// of their own: one page of memory with a text at 0, an allocator that always
// gives 512, and a _start of a few calls.

const (
	i32 = 0x7f
	i64 = 0x7e
)

// A callee is a function that a guest imports.
type callee struct {
	module, name    string
	params, results []byte
}

func (c callee) typ() []byte {
	return append(append([]byte{0x60}, vector(c.params)...), vector(c.results)...)
}

// uleb and vector are how the binary format writes numbers and bytes.
func uleb(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func vector(b []byte) []byte { return append(uleb(len(b)), b...) }

func section(id byte, items ...[]byte) []byte {
	return append([]byte{id}, vector(append(uleb(len(items)), bytes.Join(items, nil)...))...)
}

// number puts a constant on the stack, word a 32-bit number from memory; call and
// drop are what they say.
func number(n int) []byte { return append([]byte{0x41}, uleb(n)...) } // below 64 it needs no sign

func long(n int) []byte { return append([]byte{0x42}, uleb(n)...) }

func word(at int) []byte {
	return bytes.Join([][]byte{number(at), {0x28, 2, 0}}, nil)
}

func call(n int) []byte { return append([]byte{0x10}, uleb(n)...) }

var drop = []byte{0x1a}

// build makes a guest. Its functions are the imports, then the allocator, then
// _start.
func build(imports []callee, text string, start ...[]byte) []byte {
	realloc := callee{params: []byte{i32, i32, i32, i32}, results: []byte{i32}}
	var types, imported [][]byte
	for n, c := range append(imports, realloc, callee{}) {
		types = append(types, c.typ())
		if n < len(imports) {
			imported = append(imported, append(append(vector([]byte(c.module)), vector([]byte(c.name))...), append([]byte{0}, uleb(n)...)...))
		}
	}
	n := len(imports)
	export := func(name string, kind byte, index int) []byte {
		return append(append(vector([]byte(name)), kind), uleb(index)...)
	}
	body := func(code ...[]byte) []byte { return vector(append(append([]byte{0}, bytes.Join(code, nil)...), 0x0b)) }
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, types...),
		section(2, imported...),
		section(3, uleb(n), uleb(n+1)),
		section(5, []byte{0, 1}),
		section(7, export("memory", 2, 0), export("cabi_realloc", 0, n), export("_start", 0, n+1)),
		section(10, body([]byte{0x41, 0x80, 0x04}), body(start...)),
		section(11, bytes.Join([][]byte{{0}, number(0), {0x0b}, vector([]byte(text))}, nil)),
	}, nil)
}

// run runs a guest to its end.
func run(t *testing.T, ctx context.Context, wasm []byte, o host.LoadOptions, c wasi.Config) (int, error) {
	t.Helper()
	engine, err := host.NewEngine(ctx, host.Config{})
	require.NoError(t, err)
	defer engine.Close(context.Background())
	guest, err := engine.Load(context.Background(), wasm, o)
	require.NoError(t, err)
	plugins, err := wasi.Plugins(c)
	require.NoError(t, err)
	inst, err := guest.Instantiate(context.Background(), host.InstanceConfig{Plugins: plugins})
	require.NoError(t, err)
	defer inst.Close(context.Background())
	return inst.RunCommand(ctx)
}

var (
	getStdin  = callee{"wasi:cli/stdin@0.2.0", "get-stdin", nil, []byte{i32}}
	getStdout = callee{"wasi:cli/stdout@0.2.9", "get-stdout", nil, []byte{i32}}
	read      = callee{"wasi:io/streams@0.2.3", "[method]input-stream.blocking-read", []byte{i32, i64, i32}, nil}
	write     = callee{"wasi:io/streams@0.2.99", "[method]output-stream.blocking-write-and-flush", []byte{i32, i32, i32, i32}, nil}
	exit      = callee{"wasi:cli/exit@0.2.0", "exit", []byte{i32}, nil}
	exitCode  = callee{"wasi:cli/exit@0.2.12", "exit-with-code", []byte{i32}, nil}
	sleep     = callee{"wasi:clocks/monotonic-clock@0.2.1", "subscribe-duration", []byte{i64}, []byte{i32}}
	block     = callee{"wasi:io/poll@0.2.4", "[method]pollable.block", []byte{i32}, nil}
	socket    = callee{"wasi:sockets/tcp-create-socket@0.2.0", "create-tcp-socket", []byte{i32, i32}, nil}
	response  = callee{"wasi:http/types@0.2.10", "[constructor]outgoing-response", []byte{i32}, []byte{i32}}
	headers   = callee{"wasi:http/types@0.2.10", "[constructor]fields", nil, []byte{i32}}
)

// TestEcho: a guest reads and writes, in any version of WASI 0.2.
func TestEcho(t *testing.T) {
	echo := build([]callee{getStdin, getStdout, read, write, exitCode}, "",
		call(0), long(100), number(16), call(2), // the result: at 20 and 24, the list
		call(1), word(20), word(24), number(32), call(3),
		number(7), call(4))
	var out bytes.Buffer
	code, err := run(t, context.Background(), echo, host.LoadOptions{}, wasi.Config{
		Stdin: io.MultiReader(bytes.NewReader([]byte("hello"))), Stdout: &out,
	})
	require.NoError(t, err)
	assert.Equal(t, 7, code)
	assert.Equal(t, "hello", out.String())
}

func TestExit(t *testing.T) {
	for status, want := range []int{0, 1} {
		code, err := run(t, context.Background(), build([]callee{exit}, "", number(status), call(0)), host.LoadOptions{}, wasi.Config{})
		require.NoError(t, err)
		assert.Equal(t, want, code)
	}
}

// TestWaiting: a wait ends by itself, or with the context of the call.
func TestWaiting(t *testing.T) {
	wait := func(d time.Duration) []byte {
		return build([]callee{sleep, block}, "", append([]byte{0x42}, sleb(int64(d))...), call(0), call(1))
	}
	_, err := run(t, context.Background(), wait(time.Millisecond), host.LoadOptions{}, wasi.Config{})
	assert.NoError(t, err)

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	blocked := build([]callee{getStdin, read}, "", call(0), long(1), number(16), call(1))
	for name, wasm := range map[string][]byte{"clock": wait(time.Hour), "stdin": blocked} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err = run(t, ctx, wasm, host.LoadOptions{}, wasi.Config{Stdin: r})
		cancel()
		assert.ErrorIs(t, err, host.ErrCanceled, name)
		assert.ErrorIs(t, err, context.DeadlineExceeded, name)
	}
}

// sleb is a number of 64 bits, as constants are written.
func sleb(n int64) (out []byte) {
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

// TestNoNetwork: what has an error code answers with it, what has none ends the
// guest and says why.
func TestNoNetwork(t *testing.T) {
	denied := build([]callee{socket, exitCode}, "", number(0), number(16), call(0), // the result: at 16, the code at 20
		word(20), call(1))
	code, err := run(t, context.Background(), denied, host.LoadOptions{}, wasi.Config{})
	require.NoError(t, err)
	assert.Equal(t, 1, code, "access-denied")

	_, err = run(t, context.Background(), build([]callee{headers, response}, "", call(0), call(1), drop), host.LoadOptions{}, wasi.Config{})
	assert.ErrorIs(t, err, wasi.ErrNoNetwork)
	assert.ErrorContains(t, err, "wasi:http/types@0.2.12#[constructor]outgoing-response: the guest has no network")
}

func TestConfigThatIsWrong(t *testing.T) {
	for _, c := range []wasi.Config{
		{Env: []string{"X"}}, {Env: []string{"=x"}}, {Env: []string{"X=\xff"}}, {Args: []string{"\xff"}},
	} {
		_, err := wasi.Plugins(c)
		assert.Error(t, err)
	}
}
