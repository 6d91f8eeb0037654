package main

import (
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// writeModule writes a core module that does nothing, with the imports and
// exports that are asked for, each as "import=MODULE#NAME:SIGNATURE" or
// "export=NAME:SIGNATURE". A signature is the types of the parameters and the
// results, as in "ii>i" with i for i32.
func writeModule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: module file [import=MODULE#NAME:PARAMS>RESULTS | export=NAME:PARAMS>RESULTS]...")
	}
	var m module
	for _, arg := range args[1:] {
		kind, rest, _ := strings.Cut(arg, "=")
		at := strings.LastIndexByte(rest, ':')
		name, signature := rest[:at], rest[at+1:]
		if kind == "import" {
			from, name, _ := strings.Cut(name, "#")
			m.imports = append(m.imports, entity{from, name, signature})
		} else {
			m.exports = append(m.exports, entity{"", name, signature})
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), m.bytes(), 0o600))
}

// A module has a memory, and a function that traps for each export.
type module struct{ imports, exports []entity }

type entity struct{ module, name, signature string }

func (m module) bytes() []byte {
	var types, imports, functions, exports, code [][]byte
	for i, e := range append(append([]entity{}, m.imports...), m.exports...) {
		types = append(types, funcType(e.signature))
		if i < len(m.imports) {
			imports = append(imports, join(text(e.module), text(e.name), []byte{0}, leb(i)))
			continue
		}
		functions = append(functions, leb(i))
		exports = append(exports, join(text(e.name), []byte{0}, leb(i)))
		code = append(code, join(leb(3), []byte{0, 0x00, 0x0b})) // no locals, unreachable, end
	}
	exports = append(exports, join(text("memory"), []byte{2, 0}))
	return join([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, types), section(2, imports), section(3, functions), section(5, [][]byte{{0, 1}}),
		section(7, exports), section(10, code))
}

func section(id byte, items [][]byte) []byte {
	if len(items) == 0 {
		return nil
	}
	body := join(leb(len(items)), join(items...))
	return join([]byte{id}, leb(len(body)), body)
}

func funcType(signature string) []byte {
	params, results, _ := strings.Cut(signature, ">")
	i32s := func(n int) []byte { return join(leb(n), []byte(strings.Repeat("\x7f", n))) }
	return join([]byte{0x60}, i32s(len(params)), i32s(len(results)))
}

func text(s string) []byte { return join(leb(len(s)), []byte(s)) }

// leb is n as an unsigned LEB128.
func leb(n int) (out []byte) {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
