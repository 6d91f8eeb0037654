//go:build wasip1

package handler

import (
	"structs"
	"unsafe"

	"github.com/murmur-capsule/murmur/capsule/guest"
	"github.com/murmur-capsule/murmur/capsule/guest/internal/cabi"
)

// outcome is result<string, string> in memory.
type outcome struct {
	_    structs.HostLayout
	fail uint8
	ptr  uint32
	len  uint32
}

// returned keeps the result of the last call where the collector sees it: the
// host reads it after the call, until it says that it is done.
var returned struct {
	area *outcome
	text string
}

// The flat form of task: three strings and two enumerations, eight values.
//
//go:wasmexport murmur:task/handler@0.1.0#handle
func exportHandle(id, idLen, ctx, ctxLen, origin, trust, msg, msgLen uint32) *outcome {
	arena := cabi.Take()
	task := guest.Task{
		ID:        cabi.String(id, idLen),
		ContextID: cabi.String(ctx, ctxLen),
		Origin:    guest.Origin(origin),
		Trust:     guest.Trust(trust),
		Message:   cabi.String(msg, msgLen),
	}
	arena.Release()
	text, failed := answer(task)
	area := &outcome{len: uint32(len(text))}
	area.ptr = uint32(uintptr(unsafe.Pointer(unsafe.StringData(text))))
	if failed {
		area.fail = 1
	}
	returned.area, returned.text = area, text
	cabi.Begin()
	return area
}

//go:wasmexport cabi_post_murmur:task/handler@0.1.0#handle
func postHandle(uint32) {
	returned.area, returned.text = nil, ""
}
