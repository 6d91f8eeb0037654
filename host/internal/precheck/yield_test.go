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

// A collection ends although a guest computes: it has to stop every goroutine,
// and can stop one that computes in WebAssembly only when that visits Go.
func TestGuestsLetTheCollectorWork(t *testing.T) {
	m, err := precheck.Check(forever, precheck.Limits{})
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
