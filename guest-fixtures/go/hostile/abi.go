//go:build wasip1

package main

import (
	"strings"
	"unsafe"
)

//go:wasmimport murmur:tool/run@0.1.0 run
func toolRun(hasData, data, dataLen, hasLog, log, logLen, ret uint32)

// outcome is result<string, string> in memory, to be filled at will.
type outcome struct{ tag, ptr, len uint32 }

var (
	// heap keeps every block alive for ever: this guest does not live long.
	heap [][]byte
	// answer is what the handler returns the address of.
	answer outcome
	// duringRealloc and duringPost are attacks that the host triggers later.
	duringRealloc func(p uint32) uint32
	duringPost    func()
)

// place copies s to where the host can read it.
func place(s string) (ptr, n uint32) {
	b := append(make([]byte, 0, len(s)+8), s...)
	heap = append(heap, b)
	return address(unsafe.SliceData(b)), uint32(len(s))
}

func address(p *byte) uint32 { return uint32(uintptr(unsafe.Pointer(p))) }

// memorySize is the size of the module's memory in bytes, or a little more.
func memorySize() uint32 {
	b := make([]byte, 1)
	heap = append(heap, b)
	return (address(&b[0]) + 1<<28) &^ 0xffff
}

// call runs the tool with a request that is refused, and gives its result away.
func call(request string) {
	p, n := place(request)
	ret := make([]uint32, 16)
	toolRun(1, p, n, 0, 0, 0, uint32(uintptr(unsafe.Pointer(unsafe.SliceData(ret)))))
}

//go:wasmexport cabi_realloc
func realloc(_, _, align, size uint32) uint32 {
	b := make([]byte, size+align+8)
	heap = append(heap, b)
	p := (address(&b[0]) + align - 1) &^ (align - 1)
	if f := duringRealloc; f != nil {
		return f(p)
	}
	return p
}

//go:wasmexport murmur:task/handler@0.1.0#handle
func handle(_, _, _, _, _, _, msg, msgLen uint32) uint32 {
	duringRealloc, duringPost = nil, nil
	name := strings.Clone(unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(nil), msg)), msgLen))
	settle(name, true)
	if attack, ok := attacks[name]; ok {
		attack()
	} else {
		settle("there is no attack "+name, false)
	}
	return uint32(uintptr(unsafe.Pointer(&answer)))
}

// settle makes s the answer.
func settle(s string, ok bool) {
	answer = outcome{}
	if !ok {
		answer.tag = 1
	}
	answer.ptr, answer.len = place(s)
}

//go:wasmexport cabi_post_murmur:task/handler@0.1.0#handle
func post(uint32) {
	if duringPost != nil {
		duringPost()
	}
}
