package component

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// check decodes and validates.
func check(data []byte) error {
	raw, err := decode(data)
	if err != nil {
		return err
	}
	_, err = validate(data, raw)
	return err
}

func TestDetect(t *testing.T) {
	t.Parallel()
	assert.Equal(t, FormComponent, Detect([]byte(preamble)))
	assert.Equal(t, FormModule, Detect([]byte("\x00asm\x01\x00\x00\x00")))
	assert.Equal(t, FormUnknown, Detect([]byte("\x00asm\x01\x00\x07\x00")))
	assert.Equal(t, FormUnknown, Detect([]byte("\x00asm\x0d")))
	assert.Equal(t, FormUnknown, Detect([]byte("#!/bin/sh\n")))
}

func TestDecode_saysWhatTheFileIs(t *testing.T) {
	t.Parallel()
	witPackage := preamble + section(0, "\x16wit-component-encoding\x04\x00")
	for name, c := range map[string]struct{ data, want string }{
		"core module":  {"\x00asm\x01\x00\x00\x00", "this is a core module"},
		"WIT package":  {witPackage, "this is a WIT package"},
		"other draft":  {"\x00asm\x0a\x00\x01\x00", "unknown binary version 0xa: this is a component of another draft"},
		"other layer":  {"\x00asm\x0d\x00\x02\x00", "layer 0x2"},
		"not wasm":     {"#!/bin/sh\nexit 0\n", "not a WebAssembly binary"},
		"empty":        {"", "unexpected end-of-file"},
		"cut preamble": {"\x00asm\x0d", "unexpected end-of-file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.ErrorContains(t, check([]byte(c.data)), c.want)
		})
	}
}

func TestDecode_refuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ data, want string }{
		"value section": {preamble + section(12, "\x01\x7f\x01\x00"), "value feature"},
		"start section": {preamble + section(9, "\x00\x00\x00"), "value feature"},
		"left over":     {preamble + section(7, "\x01\x7f\x7f"), "unexpected data at the end of the section"},
		"huge count":    {preamble + section(7, "\xff\xff\xff\xff\x0f\x7f"), "unexpected end-of-file: 4294967295 definitions declared"},
		"huge section":  {preamble + "\x07\xff\xff\xff\xff\x0f", "unexpected end-of-file"},
		"long LEB":      {preamble + "\x07\x80\x80\x80\x80\x80\x00", "integer representation too long"},
		"gc type":       {preamble + section(3, "\x01\x5f\x00"), "garbage collection is not part of this host"},
		"cut module":    {preamble + section(1, "\x00asm"), "unexpected end-of-file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := check([]byte(c.data))
			require.ErrorContains(t, err, c.want)
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.LessOrEqual(t, e.Offset, len(c.data))
		})
	}
}

// Every cut of a real component is refused, or is itself a component.
func TestDecode_truncated(t *testing.T) {
	t.Parallel()
	for _, data := range knownBinaries(t) {
		for n := range data {
			_ = check(data[:n])
		}
		assert.NoError(t, checkOrInvalid(data))
	}
}

// checkOrInvalid passes over the errors of the cases that are meant to fail.
func checkOrInvalid(data []byte) error {
	_, err := decode(data)
	return err
}

// Each of these is small and would be costly without a limit.
func TestLimits(t *testing.T) {
	t.Parallel()
	deep := preamble
	for range maxComponentDepth + 2 {
		deep = preamble + section(4, deep)
	}
	nestedTypes := strings.Repeat("\x42\x01\x01", maxTypeNesting+2) + "\x7f"
	for name, c := range map[string]struct{ data, want string }{
		"components in components": {deep, "components nest deeper"},
		"types in types":           {preamble + section(7, "\x01"+nestedTypes), "types nest deeper"},
		"deep value type":          {preamble + section(7, listOfLists(200)), "type nesting is too deep"},
		"exponential type":         {preamble + section(7, doubling(40)), "effective type size exceeds the limit"},
		"long list":                {preamble + section(7, "\x01\x67\x7d\xff\xff\xff\xff\x0f"), "exceeds maximum byte size"},
		"canonical functions":      {preamble + section(8, "\xa1\x9c\x01"+strings.Repeat("\x24", maxCanons+1)), "more than 20000 canonical functions"},
		"long name":                {preamble + section(10, "\x01\x00"+longName()+"\x03\x01"), "longer than the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.ErrorContains(t, check([]byte(c.data)), c.want)
		})
	}
}

func TestLimits_plans(t *testing.T) {
	t.Parallel()
	v := &validator{}
	require.NoError(t, v.willPlan(&funcType{size: maxPlanned}))
	assert.ErrorContains(t, v.willPlan(&funcType{size: 1}), "the types of canonical functions are larger than")
}

// listOfLists defines n types, each a list of the one before.
func listOfLists(n int) string {
	b := binary.AppendUvarint(nil, uint64(n+1))
	b = append(b, 0x73)
	for i := range n {
		b = append(b, 0x70)
		b = appendS33(b, i)
	}
	return string(b)
}

// doubling defines n types, each a tuple of the one before, twice.
func doubling(n int) string {
	b := binary.AppendUvarint(nil, uint64(n+1))
	b = append(b, 0x7d)
	for i := range n {
		b = append(b, 0x6f, 2)
		b = appendS33(appendS33(b, i), i)
	}
	return string(b)
}

// appendS33 writes a type index below 8192.
func appendS33(b []byte, i int) []byte {
	if i < 64 {
		return append(b, byte(i))
	}
	return append(b, byte(i&0x7f|0x80), byte(i>>7))
}

// largeImport is a component that imports a function with a parameter of half a
// million parts.
func largeImport() string {
	types := doubling(18)
	types = string(appendS33(nil, 20)) + types[1:] + "\x40\x01\x01a\x12\x01\x00"
	return preamble + section(7, types) + section(10, "\x01\x00\x01f\x01\x13")
}

func longName() string {
	n := maxNameBytes + 1
	return string(binary.AppendUvarint(nil, uint64(n))) + strings.Repeat("a", n)
}

func FuzzDecode(f *testing.F) {
	for _, data := range knownBinaries(f) {
		f.Add(data)
	}
	f.Add([]byte(preamble + section(7, doubling(12))))
	f.Add([]byte("\x00asm\x01\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := Inspect(data)
		if err == nil {
			assert.Equal(t, len(data), info.Size)
		}
	})
}
