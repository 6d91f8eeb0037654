package precheck_test

import (
	"encoding/binary"
	"slices"

	pre "github.com/murmur-capsule/murmur/host/internal/precheck"
)

// The helpers below write modules, byte by byte where a test wants it so.

var header = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

func u32(n int) []byte { return binary.AppendUvarint(nil, uint64(n)) }

func str(s string) []byte { return append(u32(len(s)), s...) }

func vec(items ...[]byte) []byte { return append(u32(len(items)), cat(items...)...) }

func section(id byte, content ...[]byte) []byte {
	c := cat(content...)
	return cat([]byte{id}, u32(len(c)), c)
}

func module(sections ...[]byte) []byte { return cat(append([][]byte{header}, sections...)...) }

// fn is a function body without locals; the end is added.
func fn(code ...byte) []byte { return body([]byte{0}, code...) }

func body(locals []byte, code ...byte) []byte {
	b := cat(locals, code, []byte{0x0b})
	return append(u32(len(b)), b...)
}

func times(n int, b ...byte) []byte { return slices.Repeat(b, n) }

// i32Type is (i32) -> (i32).
var i32Type = []byte{0x60, 1, pre.I32, 1, pre.I32}

// single is a module of one function of type i32Type, with a memory, exported as
// "f".
func single(body []byte) []byte {
	return module(
		section(1, vec(i32Type)),
		section(3, vec([]byte{0})),
		section(5, vec([]byte{0, 1})),
		section(7, vec(cat(str("f"), []byte{0, 0}))),
		section(10, vec(body)),
	)
}

// everything is a module with each kind of section and item.
func everything() []byte {
	void, i32s := []byte{0x60, 0, 0}, i32Type
	return module(
		section(0, str("producers"), []byte("anything at all")),
		section(1, vec(void, i32s)),
		section(2, vec(
			cat(str(""), str(""), []byte{0, 1}),
			cat(str("env"), str("t"), []byte{1, 0x70, 1, 1, 9}),
			cat(str("env"), str("g"), []byte{3, pre.I32, 0}),
			cat(str("env"), str("f"), []byte{0, 0}),
		)),
		section(3, vec([]byte{0}, []byte{1})),
		section(4, vec([]byte{0x70, 0, 2}, []byte{0x6f, 1, 0, 3})),
		section(5, vec([]byte{1, 1, 4})),
		section(6, vec(
			[]byte{pre.I32, 1, 0x41, 7, 0x0b},
			[]byte{pre.I64, 0, 0x42, 0x7f, 0x0b},
			[]byte{pre.I32, 0, 0x23, 0, 0x41, 1, 0x6a, 0x0b},
			[]byte{pre.FuncRef, 0, 0xd2, 3, 0x0b},
		)),
		section(7, vec(
			cat(str("f"), []byte{0, 3}), cat(str("table"), []byte{1, 1}),
			cat(str("memory"), []byte{2, 0}), cat(str("g"), []byte{3, 1}),
		)),
		section(8, []byte{2}),
		section(9, vec(
			cat([]byte{0, 0x41, 0, 0x0b}, vec([]byte{2})),
			cat([]byte{1, 0}, vec([]byte{3})),
			cat([]byte{2, 1, 0x41, 0, 0x0b, 0}, vec([]byte{3})),
			cat([]byte{5, 0x70}, vec([]byte{0xd0, 0x70, 0x0b}, []byte{0xd2, 2, 0x0b})),
		)),
		section(12, u32(2)),
		section(10, vec(
			fn(0x01),
			body([]byte{1, 2, pre.I64},
				0x03, 0x40, 0x20, 0, 0x45, 0x04, 0x7f, 0x41, 1, 0x05, 0x41, 0, 0x0b, 0x0d, 0, 0x0b, // a loop with an if
				0x02, 0x40, 0x20, 0, 0x0e, 1, 0, 0, 0x0b, // br_table
				0x41, 0, 0x41, 0, 0x41, 1, 0xfc, 8, 1, 0, 0xfc, 9, 1, // memory.init, data.drop
				0x41, 0, 0xfd, 0, 4, 0, 0xfd, 0x15, 3, 0x1a, // v128.load, i8x16.extract_lane_s
				0x20, 0, 0x10, 0, // call
			),
		)),
		section(11, vec(
			cat([]byte{0, 0x41, 4, 0x0b}, str("data")),
			cat([]byte{1}, str("more")),
		)),
		section(0, str("name"), []byte{1}, str(string(vec(cat([]byte{2}, str("start")), cat([]byte{3}, str("main.run")))))),
	)
}
