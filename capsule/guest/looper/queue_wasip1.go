//go:build wasip1

package looper

import (
	"runtime"
	"structs"
	"unsafe"

	"github.com/murmur-capsule/murmur/capsule/guest"
	"github.com/murmur-capsule/murmur/capsule/guest/internal/cabi"
)

//go:wasmimport murmur:task/queue@0.1.0 next
func queueNext(ret *optionTask)

//go:wasmimport murmur:task/queue@0.1.0 settle
func queueSettle(fail uint32, text unsafe.Pointer, n uint32)

// optionTask is option<task> in memory: 32 bytes, aligned to 4.
type optionTask struct {
	_                     structs.HostLayout
	some                  uint32
	id, idLen             uint32
	contextID, contextLen uint32
	origin, trust         uint8
	message, messageLen   uint32
}

//go:wasmexport murmur:capsule/run@0.1.0#run
func exportRun() {
	if run == nil {
		panic("this guest has no loop: call looper.Main from an init function")
	}
	run()
}

func next() (guest.Task, bool) {
	ret := new(optionTask)
	cabi.Begin()
	queueNext(ret)
	arena := cabi.Take()
	defer arena.Release()
	// The discriminant is one byte; what pads it is not the host's to clear.
	if uint8(ret.some) == 0 {
		return guest.Task{}, false
	}
	return guest.Task{
		ID:        cabi.String(ret.id, ret.idLen),
		ContextID: cabi.String(ret.contextID, ret.contextLen),
		Origin:    guest.Origin(ret.origin),
		Trust:     guest.Trust(ret.trust),
		Message:   cabi.String(ret.message, ret.messageLen),
	}, true
}

func settle(fail uint32, text string) {
	queueSettle(fail, unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
	runtime.KeepAlive(text)
}
