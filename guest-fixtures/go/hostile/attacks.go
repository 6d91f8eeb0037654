//go:build wasip1

package main

import (
	"os"
	"strconv"
	"time"
)

const refused = `{"binary":"hostile","command":"x"}`

var sink int

// attacks lists what the guest can be told to do. After those that the host
// survives without harm the task ends well; all others are to trap.
var attacks = map[string]func(){
	"behave": func() {},

	// It takes the host's time and memory.
	"loop": func() {
		for {
			sink++
		}
	},
	"recurse":  func() { sink = recurse(1) },
	"allocate": allocate,
	"panic":    func() { panic("by request") },
	"exit":     func() { os.Exit(3) },
	"exit-0":   func() { os.Exit(0) },
	// Time in a call of the host's does not count as the guest's own.
	"wait":  func() { call(`{"binary":"bash","command":"sleep 2.5"}`) },
	"sleep": func() { time.Sleep(time.Hour) },

	// Its arguments are bad.
	"data-outside":     func() { toolRun(1, 0xffff0000, 16, 0, 0, 0, space()) },
	"data-wraps":       func() { toolRun(1, 0xfffffff0, 0x20, 0, 0, 0, space()) },
	"data-4gib":        func() { toolRun(1, 16, 0xffffffff, 0, 0, 0, space()) },
	"data-not-utf8":    func() { p, n := place("{\"binary\":\"\xff\xfe\"}"); toolRun(1, p, n, 0, 0, 0, space()) },
	"data-half-a-rune": func() { p, n := place("\xe6\x97"); toolRun(1, p, n, 0, 0, 0, space()) },
	"data-surrogate":   func() { p, n := place("\xed\xa0\x80"); toolRun(1, p, n, 0, 0, 0, space()) },
	"log-outside":      func() { p, n := place(refused); toolRun(1, p, n, 1, 0xffff0000, 16, space()) },
	"option-2":         func() { p, n := place(refused); toolRun(2, p, n, 0, 0, 0, space()) },
	"result-area-odd":  func() { p, n := place(refused); toolRun(1, p, n, 0, 0, 0, space()+1) },
	"result-area-outside": func() {
		p, n := place(refused)
		toolRun(1, p, n, 0, 0, 0, 0xffffff00)
	},
	"result-area-at-the-end": func() { p, n := place(refused); toolRun(1, p, n, 0, 0, 0, 0xfffffffc) },

	// It allocates badly for the host.
	"realloc-outside": func() { duringRealloc = func(uint32) uint32 { return 0xffffff00 }; call(refused) },
	"realloc-odd":     func() { duringRealloc = func(p uint32) uint32 { return p + 1 }; call(refused) },
	"realloc-panics":  func() { duringRealloc = func(uint32) uint32 { panic("no memory") }; call(refused) },
	"realloc-exits":   func() { duringRealloc = func(uint32) uint32 { os.Exit(4); return 0 }; call(refused) },
	"realloc-loops":   func() { duringRealloc = loop; call(refused) },
	"realloc-calls":   func() { duringRealloc = func(p uint32) uint32 { call(refused); return p }; call(refused) },
	"realloc-grows":   func() { duringRealloc = grow; call(refused) },

	// Its answer is bad.
	"answer-outside":  func() { answer.ptr, answer.len = 0xffff0000, 16 },
	"answer-4gib":     func() { answer.len = 0xffffffff },
	"answer-2":        func() { answer.tag = 2 },
	"answer-not-utf8": func() { settle("\xff", true) },
	"answer-huge":     func() { answer.ptr, answer.len = 0, memorySize() },
	"answer-nothing":  func() { answer.ptr, answer.len = 0, 0 },
	"post-panics":     func() { duringPost = func() { panic("after the fact") } },
	"post-loops":      func() { duringPost = func() { loop(0) } },
	"post-calls":      func() { duringPost = func() { call(refused) } },

	// It looks around.
	"read-etc": func() { read("/etc/passwd") },
	"read-up":  func() { read("/workdir/../../../../etc/passwd") },
}

func recurse(n int) int {
	var frame [64]int
	frame[n%64] = n
	return recurse(n+1) + frame[(n+1)%64]
}

func allocate() {
	for n := 1 << 16; ; n = min(n*2, 1<<26) {
		b := make([]byte, n)
		for i := 0; i < n; i += 4096 {
			b[i] = 1
		}
		heap = append(heap, b)
	}
}

func loop(p uint32) uint32 {
	for {
		sink++
	}
}

// grow makes the memory larger in the middle of a call, which moves it for a
// host that holds on to it.
func grow(p uint32) uint32 {
	heap = append(heap, make([]byte, 1<<20))
	return p
}

// space returns the address of room for a tool-result.
func space() uint32 {
	b := make([]byte, 64)
	heap = append(heap, b)
	return (address(&b[0]) + 3) &^ 3
}

func read(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		settle(err.Error(), false)
		return
	}
	settle("read "+strconv.Itoa(len(data))+" bytes", true)
}
