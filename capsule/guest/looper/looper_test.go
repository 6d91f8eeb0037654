package looper

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMain_once(t *testing.T) {
	assert.Panics(t, func() { Main(nil) })
	called := false
	Main(func() { called = true })
	t.Cleanup(func() { run = nil })
	assert.Panics(t, func() { Main(func() {}) })
	run()
	assert.True(t, called)
}

func TestTasks_natively(t *testing.T) {
	for range Tasks() {
		t.Fatal("there are no tasks outside a WebAssembly runtime")
	}
	assert.NotPanics(t, func() { Settle("x", nil); Settle("", errors.New("y")) })
}
