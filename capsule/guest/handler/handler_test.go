package handler

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/murmur-capsule/murmur/capsule/guest"
)

func TestHandle(t *testing.T) {
	text, failed := answer(guest.Task{})
	assert.True(t, failed)
	assert.Contains(t, text, "handler.Handle")

	assert.Panics(t, func() { Handle(nil) })
	Handle(func(t guest.Task) (string, error) {
		if t.Message == "" {
			return "lost", errors.New("no message")
		}
		return "got " + t.Message, nil
	})
	t.Cleanup(func() { handle = nil })
	assert.Panics(t, func() { Handle(func(guest.Task) (string, error) { return "", nil }) })

	text, failed = answer(guest.Task{Message: "x"})
	assert.Equal(t, "got x", text)
	assert.False(t, failed)
	text, failed = answer(guest.Task{})
	assert.Equal(t, "no message", text)
	assert.True(t, failed)
}
