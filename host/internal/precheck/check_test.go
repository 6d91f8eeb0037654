package precheck_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pre "github.com/murmur-capsule/murmur/host/internal/precheck"
)

func TestCheckDescribesAModule(t *testing.T) {
	m, err := pre.Check(everything(), pre.Limits{})
	require.NoError(t, err)
	var got []string
	for _, i := range m.Imports() {
		got = append(got, fmt.Sprintf("import %q %q %s", i.Module, i.Name, i.Kind))
	}
	for _, e := range m.Exports() {
		got = append(got, fmt.Sprintf("export %q %s %d", e.Name, e.Kind, e.Index))
	}
	assert.Equal(t, []string{
		`import "" "" function`, `import "env" "t" table`, `import "env" "g" global`, `import "env" "f" function`,
		`export "f" function 3`, `export "table" table 1`, `export "memory" memory 0`, `export "g" global 1`,
	}, got)
	assert.Equal(t, "(i32) -> (i32)", m.Imports()[0].Func.String())
	assert.Equal(t, pre.Limits32{Min: 1, Max: 9, HasMax: true}, m.Imports()[1].Table.Limits)
	assert.Equal(t, pre.Global{Type: pre.I32}, m.Imports()[2].Global)
	assert.Equal(t, pre.Limits32{Min: 1, Max: 4, HasMax: true}, m.Exports()[2].Memory)
	assert.Equal(t, pre.Global{Type: pre.I32, Mutable: true}, m.Exports()[3].Global)
	assert.True(t, m.HasMemory())
	assert.Equal(t, 2, m.FunctionCount())
}

func TestCheckHeader(t *testing.T) {
	tests := []struct {
		name string
		data string
		want string
	}{
		{"empty", "", "this is not a WebAssembly file: it is empty (at offset 0x0)"},
		{"text", "hello, world", "this is not a WebAssembly file (at offset 0x0)"},
		{"WebAssembly text", "(module)", "this is not a WebAssembly file: it looks like WebAssembly text (at offset 0x0)"},
		{"a native program", "\x7fELF\x02\x01\x01", "this is not a WebAssembly file: it looks like a native program (at offset 0x0)"},
		{"an archive", "PK\x03\x04....", "this is not a WebAssembly file: it looks like an archive (at offset 0x0)"},
		{"cut in the magic number", "\x00as", "unexpected end of the file in its header (at offset 0x3)"},
		{"cut in the version", "\x00asm\x01\x00", "unexpected end of the file in its header (at offset 0x6)"},
		{"another version", "\x00asm\x02\x00\x00\x00", "this is version 2 of WebAssembly; only version 1 is known (at offset 0x4)"},
		{"a component", "\x00asm\x0d\x00\x01\x00", "this is a component, where a core module is wanted (layer 1 of the binary format, version 0xd)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pre.Check([]byte(tt.data), pre.Limits{})
			assert.EqualError(t, err, tt.want)
		})
	}
	_, err := pre.Check([]byte("\x00asm\x0d\x00\x01\x00"), pre.Limits{})
	var component *pre.ComponentError
	require.ErrorAs(t, err, &component)
	assert.EqualValues(t, 1, component.Layer)
}

// TestCheckHugeCounts: a count of 0xffffffff in a module of 15 bytes ends a
// process that believes it.
func TestCheckHugeCounts(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x0f}
	for id := byte(0); id <= 12; id++ {
		m := module(section(id, huge))
		require.Len(t, m, 15)
		_, err := pre.Check(m, pre.Limits{})
		assert.Error(t, err, "section %d", id)
	}
	inside := map[string][]byte{
		"parameters":       module(section(1, []byte{1, 0x60}, huge)),
		"results":          module(section(1, []byte{1, 0x60, 0}, huge)),
		"an import's name": module(section(2, []byte{1}, huge)),
		"locals":           single(cat([]byte{6, 1}, huge, []byte{pre.I32, 0x0b})),
		"groups of locals": single(cat([]byte{6}, huge, []byte{0x0b})),
		"a function body":  module(section(1, vec(i32Type)), section(3, vec([]byte{0})), section(10, []byte{1}, huge)),
		"labels":           single(fn(cat([]byte{0x0e}, huge)...)),
		"types of select":  single(fn(cat([]byte{0x1c}, huge)...)),
		"elements":         module(section(4, vec([]byte{0x70, 0, 1})), section(9, []byte{1, 0, 0x41, 0, 0x0b}, huge)),
		"data":             module(section(5, vec([]byte{0, 1})), section(11, []byte{1, 0, 0x41, 0, 0x0b}, huge)),
		"a section":        cat(header, []byte{1}, huge),
		"a custom name":    module(section(0, huge)),
	}
	for name, m := range inside {
		_, err := pre.Check(m, pre.Limits{})
		assert.Error(t, err, name)
	}
}

func TestCheckTruncated(t *testing.T) {
	whole := everything()
	for n := range whole {
		_, err := pre.Check(whole[:n], pre.Limits{})
		if err == nil {
			// Only between two sections can a module be cut and still be one.
			_, err = pre.Check(append(whole[:n:n], 0), pre.Limits{})
			assert.Error(t, err)
		}
	}
}

func TestCheckErrors(t *testing.T) {
	void := []byte{0x60, 0, 0}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"an unknown section", module(section(14, nil)), "unknown section 14 (at offset 0x8)"},
		{"sections out of order", module(section(3, vec()), section(1, vec())), "the type section is out of order (at offset 0xb)"},
		{"a section twice", module(section(1, vec()), section(1, vec())), "a second type section (at offset 0xb)"},
		{"bytes after a section's items", module(section(1, vec(), []byte{0})), "1 bytes are left at the end of the type section (at offset 0xb)"},
		{"a section that is too short", cat(header, []byte{1, 1, 1, 0x60, 0, 0}), "1 types cannot be in the 0 bytes that are left (at offset 0xa)"},
		{"a number of more than 32 bits", cat(header, []byte{1, 0xff, 0xff, 0xff, 0xff, 0x1f}), "malformed number: more than 32 bits (at offset 0x9)"},
		{"a struct type", module(section(1, vec([]byte{0x5f, 0}))), "type 0 is not a function type (0x5f) (at offset 0xb)"},
		{"an unknown value type", module(section(1, vec([]byte{0x60, 1, 0x11, 0}))), "unknown value type 0x11 (at offset 0xd)"},
		{"a function of no type", module(section(3, vec([]byte{0}))), "there is no type 0 (at offset 0xb)"},
		{"an import of no kind", module(section(2, vec(cat(str("a"), str("b"), []byte{9})))), "unknown kind of import 0x9 (at offset 0xf)"},
		{"an import of no name", module(section(2, vec(cat(str("\xff"), str("b"), []byte{0, 0})))), "the module of an import is not valid UTF-8 (at offset 0xb)"},
		{"two memories", module(section(5, vec([]byte{0, 1}, []byte{0, 1}))), "too many memories: 2, the limit is 1 (at offset 0xa)"},
		{"an imported memory and another", module(section(2, vec(cat(str("a"), str("b"), []byte{2, 0, 1}))), section(5, vec([]byte{0, 1}))), "too many memories: 2, the limit is 1 (at offset 0x15)"},
		{"a shared memory", module(section(5, vec([]byte{3, 1, 2}))), "shared memories and tables are not supported (at offset 0xb)"},
		{"a 64-bit memory", module(section(5, vec([]byte{4, 1}))), "unknown limits 0x4 (at offset 0xb)"},
		{"a memory of too many pages", module(section(5, vec([]byte{1, 1, 0x81, 0x80, 4}))), "a memory of more than 4 GiB (at offset 0xb)"},
		{"limits upside down", module(section(4, vec([]byte{0x70, 1, 2, 1}))), "limits with a maximum (1) below the minimum (2) (at offset 0xc)"},
		{"a table of numbers", module(section(4, vec([]byte{pre.I32, 0, 1}))), "unknown reference type 0x7f (at offset 0xb)"},
		{"a table with a value", module(section(4, vec([]byte{0x40, 0, 0x70, 0, 1}))), "a table with an initial value is not supported (at offset 0xb)"},
		{"a global of no mutability", module(section(6, vec([]byte{pre.I32, 2, 0x41, 0, 0x0b}))), "unknown mutability 0x2 (at offset 0xc)"},
		{"an unfinished expression", module(section(6, vec([]byte{pre.I32, 0, 0x41, 0}))), "unexpected end of the file (at offset 0xf)"},
		{"a call in an expression", module(section(6, vec([]byte{pre.I32, 0, 0x10, 0, 0x0b}))), "an instruction (0x10) that no constant expression may hold (at offset 0xd)"},
		{"exceptions", module(section(13, vec())), "exception handling is not supported (at offset 0x8)"},
		{"an export of nothing", module(section(7, vec(cat(str("f"), []byte{0, 0})))), "there is no function 0 to export (at offset 0xd)"},
		{"an export of no kind", module(section(7, vec(cat(str("f"), []byte{7, 0})))), "unknown kind of export 0x7 (at offset 0xd)"},
		{"an export twice", module(section(5, vec([]byte{0, 1})), section(7, vec(cat(str("m"), []byte{2, 0}), cat(str("m"), []byte{2, 0})))), `a second export with the name "m" (at offset 0x14)`},
		{"a start of nothing", module(section(8, []byte{0})), "there is no function 0 (at offset 0xa)"},
		{"a start with a result", module(section(1, vec(i32Type)), section(3, vec([]byte{0})), section(8, []byte{0}), section(10, vec(fn(0x20, 0)))), "the start function has the type (i32) -> (i32) (at offset 0x16)"},
		{"elements of no table", module(section(9, vec(cat([]byte{0, 0x41, 0, 0x0b}, vec())))), "there is no table 0 (at offset 0xb)"},
		{"elements of no form", module(section(9, vec([]byte{8}))), "unknown form of element segment 8 (at offset 0xb)"},
		{"elements of no kind", module(section(9, vec([]byte{1, 7, 0}))), "unknown kind of element 0x7 (at offset 0xc)"},
		{"data of no memory", module(section(11, vec(cat([]byte{0, 0x41, 0, 0x0b}, str("x"))))), "a data segment without a memory (at offset 0xb)"},
		{"data of no form", module(section(11, vec([]byte{3}))), "unknown form of data segment 3 (at offset 0xb)"},
		{"data that is not there", module(section(12, u32(1))), "1 data segments are announced, there are none (at offset 0xb)"},
		{"data that was not announced", module(section(12, u32(1)), section(11, vec())), "1 data segments are announced, there are 0 (at offset 0xd)"},
		{"functions without bodies", module(section(1, vec(void)), section(3, vec([]byte{0}))), "1 functions are announced, 0 have a body (at offset 0x12)"},
		{"bodies without functions", module(section(10, vec(fn()))), "0 functions are announced, 1 have a body (at offset 0xa)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pre.Check(tt.data, pre.Limits{})
			assert.EqualError(t, err, tt.want)
		})
	}
}

func TestCheckInstructions(t *testing.T) {
	tests := []struct {
		name string
		code []byte
		want string
	}{
		{"an unknown instruction", []byte{0xc5}, "unknown instruction 0xc5"},
		{"an unknown instruction after a prefix", []byte{0xfc, 18}, "unknown instruction 0xfc 0x12"},
		{"threads", []byte{0xfe, 0}, "threads are not supported"},
		{"tail calls", []byte{0x12, 0}, "tail calls are not supported"},
		{"exceptions", []byte{0x06, 0x40}, "exception handling is not supported"},
		{"typed function references", []byte{0x14, 0}, "typed function references are not supported"},
		{"garbage collection", []byte{0xfb, 0}, "garbage collected types are not supported"},
		{"relaxed vectors", []byte{0xfd, 0x80, 2}, "relaxed vector instructions are not supported"},
		{"a local that is not there", []byte{0x20, 1}, "there is no local 1"},
		{"a function that is not there", []byte{0x10, 9}, "there is no function 9"},
		{"a type that is not there", []byte{0x11, 9, 0}, "there is no type 9"},
		{"a table that is not there", []byte{0x11, 0, 0}, "there is no table 0"},
		{"a global that is not there", []byte{0x23, 0}, "there is no global 0"},
		{"another memory", []byte{0x3f, 1}, "there is no memory 1"},
		{"data without a count", []byte{0xfc, 9, 0}, "there is no data segment 0"},
		{"elements that are not there", []byte{0xfc, 13, 0}, "there is no element segment 0"},
		{"an alignment", []byte{0x28, 5, 0}, "an alignment of 2^5"},
		{"a block's type", []byte{0x02, 9}, "there is no type 9"},
		{"a branch too far", []byte{0x0c, 1}, "a branch out of 2 blocks, where 1 are open"},
		{"a label too far", []byte{0x0e, 1, 0, 2}, "a branch out of 3 blocks, where 1 are open"},
		{"an else without an if", []byte{0x05}, "an else without an if"},
		{"two elses", []byte{0x04, 0x40, 0x05, 0x05, 0x0b}, "an else without an if"},
		{"code after the end", []byte{0x0b, 0x01}, "2 bytes follow the end of function 0"},
		{"an open block", []byte{0x02, 0x40}, "unexpected end of the file"},
		{"a long number", []byte{0x41, 0xff, 0xff, 0xff, 0xff, 0x2f}, "malformed number: more than 32 bits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pre.Check(single(fn(tt.code...)), pre.Limits{})
			require.Error(t, err)
			assert.Contains(t, err.Error(), tt.want)
			var at *pre.Error
			assert.ErrorAs(t, err, &at)
		})
	}
}

func TestCheckNumbers(t *testing.T) {
	for _, code := range [][]byte{
		{0x41, 0x80, 0x80, 0x80, 0x80, 0x78}, // the least i32
		{0x41, 0xff, 0xff, 0xff, 0xff, 0x07}, // the greatest
		{0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f, 0xa7},
		{0x41, 0x80, 0x00}, // not the shortest form
	} {
		_, err := pre.Check(single(fn(code...)), pre.Limits{})
		assert.NoError(t, err, "%x", code)
	}
	for _, code := range [][]byte{
		{0x41, 0x80, 0x80, 0x80, 0x80, 0x70},
		{0x41, 0xff, 0xff, 0xff, 0xff, 0x0f},
		{0x42, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7e},
		{0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00},
	} {
		_, err := pre.Check(single(fn(code...)), pre.Limits{})
		assert.ErrorContains(t, err, "malformed number", "%x", code)
	}
}

func TestCheckLimits(t *testing.T) {
	locals := func(n int) []byte { return cat([]byte{1}, u32(n), []byte{pre.I32}) }
	tests := []struct {
		name string
		data []byte
		what string
	}{
		{"the file", append(everything(), times(1<<20, 0)...), "bytes in the file"},
		{"tables of 2^27", module(section(4, vec([]byte{0x70, 0, 0x80, 0x80, 0x80, 0x40}))), "elements in tables"},
		{"many tables", module(section(4, vec(times2(3, cat([]byte{0x70, 0}, u32(1_000_000)))...))), "elements in tables"},
		{"memory", module(section(5, vec(cat([]byte{0}, u32(8193))))), "pages of memory to start with"},
		{"parameters", module(section(1, vec(cat([]byte{0x60}, u32(1001), times(1001, pre.I32), []byte{0})))), "parameters"},
		{"locals", single(body(locals(50_001))), "locals of a function"},
		{"locals of many functions", manyFunctions(2_000, body(locals(49_999), 0x20, 0)), "locals of all functions"},
		{"a body", single(fn(times(2<<20, 0x01)...)), "bytes in a function body"},
		{"nested blocks", single(fn(cat(times(10_001, 0x02, 0x40), times(10_001, 0x0b), []byte{0x20, 0})...)), "nested blocks"},
		{"an expression", module(section(6, vec(cat([]byte{pre.I32, 0}, times(1001, 0x41, 0), []byte{0x0b})))), "instructions in a constant expression"},
		{"a name", module(section(2, vec(cat(str(strings.Repeat("n", 100_001)), str(""), []byte{0, 0})))), "bytes in the module of an import"},
		{"custom sections", module(times2(10_001, section(0, str("")))...), "custom sections"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pre.Check(tt.data, pre.Limits{FileBytes: 4 << 20})
			if tt.name == "the file" {
				_, err = pre.Check(tt.data, pre.Limits{FileBytes: 1 << 20})
			}
			var limit *pre.LimitError
			require.ErrorAs(t, err, &limit)
			assert.Equal(t, tt.what, limit.What)
			assert.Greater(t, limit.Have, limit.Limit)
			assert.Contains(t, err.Error(), "too many "+tt.what)
		})
	}
}

func times2(n int, b []byte) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = b
	}
	return out
}

func manyFunctions(n int, body []byte) []byte {
	return module(
		section(1, vec(i32Type)),
		section(3, u32(n), times(n, 0)),
		section(10, u32(n), times(n, body...)),
	)
}

// TestCheckComplexity: each of these holds wazero's compiler for longer than any
// real function does, most of them for minutes. The measure is an estimate, so
// what real toolchains make must stay far below it.
func TestCheckComplexity(t *testing.T) {
	tooMuch := map[string][]byte{
		"if after if":                     fn(cat(times(20_000, 0x20, 0, 0x04, 0x40, 0x0b), []byte{0x20, 0})...),
		"nested ifs":                      fn(cat(times(9_000, 0x20, 0, 0x04, 0x40), times(9_000, 0x0b), times(9_000, 0x20, 0, 0x04, 0x40, 0x0b), []byte{0x20, 0})...),
		"nested loops":                    fn(cat(times(9_900, 0x03, 0x40), times(9_900, 0x0b), []byte{0x20, 0})...),
		"nested loops with locals":        body(cat([]byte{1}, u32(1000), []byte{pre.I32}), cat(times(500, 0x03, 0x40), times(500, 0x0b), []byte{0x20, 0})...),
		"ifs with locals":                 body(cat([]byte{1}, u32(4000), []byte{pre.I32}), cat(times(2000, 0x20, 0, 0x04, 0x40, 0x0b), []byte{0x20, 0})...),
		"a table of 200,000 labels":       fn(cat([]byte{0x02, 0x40, 0x20, 0, 0x0e}, u32(200_000), times(200_001, 0), []byte{0x0b, 0x20, 0})...),
		"tables of many labels, locals":   body(cat([]byte{1}, u32(400), []byte{pre.I32}), cat(times(50, cat([]byte{0x02, 0x40, 0x20, 0, 0x0e}, u32(1000), times(1001, 0), []byte{0x0b})...), []byte{0x20, 0})...),
		"a branch out after a branch out": fn(cat([]byte{0x02, 0x40}, times(60_000, 0x20, 0, 0x0d, 0), []byte{0x0b, 0x20, 0})...),
	}
	for name, b := range tooMuch {
		_, err := pre.Check(single(b), pre.Limits{})
		assert.ErrorContains(t, err, "function 0 is too complex to be compiled", name)
	}
	fine := map[string][]byte{
		"a switch of 4,000 cases": switchOf(4_000),
		"1,000 nested ifs":        fn(cat(times(1000, 0x20, 0, 0x04, 0x40), times(1000, 0x0b), []byte{0x20, 0})...),
		"5,000 ifs":               fn(cat(times(5000, 0x20, 0, 0x04, 0x40, 0x0b), []byte{0x20, 0})...),
		"500 locals, 1,000 ifs":   body(cat([]byte{1}, u32(500), []byte{pre.I32}), cat(times(1000, 0x20, 0, 0x04, 0x40, 0x0b), []byte{0x20, 0})...),
		"loops 20 deep":           body(cat([]byte{1}, u32(500), []byte{pre.I32}), cat(times(20, 0x03, 0x40), times(20, 0x0b), []byte{0x20, 0})...),
	}
	for name, b := range fine {
		_, err := pre.Check(single(b), pre.Limits{})
		assert.NoError(t, err, name)
	}
}

// switchOf is what toolchains make of a switch: as many nested blocks as there
// are cases, and one br_table.
func switchOf(cases int) []byte {
	code := cat(times(cases, 0x02, 0x40), []byte{0x20, 0, 0x0e}, u32(cases-1))
	for i := range cases {
		code = append(code, u32(i)...)
	}
	return fn(cat(code, times(cases, 0x0b, 0x20, 0, 0x41, 1, 0x6a, 0x21, 0), []byte{0x20, 0})...)
}

func TestCheckPairs(t *testing.T) {
	exports := make([][]byte, 6_000)
	for i := range exports {
		exports[i] = cat(str(fmt.Sprint(i)), []byte{0, 0})
	}
	const n = 170_000
	_, err := pre.Check(module(
		section(1, vec(i32Type)),
		section(3, u32(n), times(n, 0)),
		section(7, vec(exports...)),
		section(10, u32(n), times(n, fn(0x20, 0)...)),
	), pre.Limits{})
	assert.ErrorContains(t, err, "too many exports times functions")

	imports := make([][]byte, 10_000)
	for i := range imports {
		imports[i] = cat(str("m"), str("f"), []byte{0, 0})
	}
	elements := cat([]byte{5, 0x70}, u32(101_000), times(101_000, 0xd2, 0, 0x0b))
	_, err = pre.Check(module(
		section(1, vec(i32Type)),
		section(2, vec(imports...)),
		section(9, vec(elements)),
	), pre.Limits{})
	assert.ErrorContains(t, err, "too many imports times references to them")
}
