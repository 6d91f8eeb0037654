package precheck_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

// forever is (module (func (export "f") (loop (br 0)))).
var forever = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x04\x01\x60\x00\x00" + "\x03\x02\x01\x00" + "\x07\x05\x01\x01f\x00\x00" +
	"\x0a\x09\x01\x07\x00\x03\x40\x0c\x00\x0b\x0b")

// laborious calls a function without loops in a loop: it is long, and does one
// division after the other.
func laborious() []byte {
	divide := []byte{0x20, 0, 0x20, 0, 0x41, 1, 0x72, 0x6e, 0x21, 0} // n = n / (n | 1)
	call := []byte{0x41, 1, 0x10, 0}
	return module(
		section(1, vec([]byte{0x60, 1, precheck.I32, 0}, []byte{0x60, 0, 0})),
		section(3, vec([]byte{0}, []byte{1})),
		section(7, vec(cat(str("f"), []byte{0, 1}))),
		section(10, vec(
			fn(times(20_000, divide...)...),
			fn(cat([]byte{0x03, 0x40}, times(200, call...), []byte{0x0c, 0, 0x0b})...),
		)),
	)
}

// A collection ends although a guest computes: it has to stop every goroutine,
// and can stop one that computes in WebAssembly only when that visits Go.
func TestGuestsLetTheCollectorWork(t *testing.T) {
	for name, wasm := range map[string][]byte{"a loop": forever, "calls of a long function": laborious()} {
		t.Run(name, func(t *testing.T) { testCollects(t, wasm) })
	}
}

func testCollects(t *testing.T, wasm []byte) {
	m, err := precheck.Check(wasm, precheck.Limits{})
	require.NoError(t, err)
	w := m.Rewrite(precheck.Rewrite{Control: true})
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer func() { require.NoError(t, r.Close(ctx)) }()
	mod, err := r.Instantiate(ctx, w.Bytes)
	require.NoError(t, err)

	began, done := make(chan struct{}), make(chan error)
	go func() {
		close(began)
		_, err := mod.ExportedFunction("f").Call(ctx)
		done <- err
	}()
	<-began
	for range 20 {
		runtime.GC()
	}
	mod.ExportedGlobal(w.Interrupt).(api.MutableGlobal).Set(1)
	assert.ErrorContains(t, <-done, "wasm error: unreachable")
}
