package component

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// literal reads a component value of a script, such as (u32.const 1), as a
// value of type t.
func literal(s *sexpr, t *canon.Type) (canon.Value, error) {
	kind := strings.TrimSuffix(s.head(), ".const")
	switch t.Kind() {
	case canon.KindBool:
		return canon.Bits(map[string]uint64{"true": 1}[s.word(1)]), nil
	case canon.KindF32, canon.KindF64:
		return floatLiteral(s.word(1), t.Kind())
	case canon.KindChar:
		r, _ := utf8.DecodeRuneInString(s.list[1].text)
		return canon.Bits(uint64(r)), nil
	case canon.KindString:
		return canon.Str(s.list[1].text), nil
	case canon.KindList, canon.KindFixedList, canon.KindTuple, canon.KindRecord:
		return seqLiteral(s, t)
	case canon.KindEnum:
		i := slices.Index(t.Labels(), s.list[1].text)
		if i < 0 {
			return canon.Value{}, fmt.Errorf("no enum case %q", s.list[1].text)
		}
		return canon.Bits(uint64(i)), nil
	case canon.KindFlags:
		return flagsLiteral(s, t)
	case canon.KindVariant, canon.KindOption, canon.KindResult:
		return caseLiteral(s, t, kind)
	}
	n, err := intLiteral(s.word(1))
	return canon.Bits(narrow(t.Kind(), n)), err
}

// narrow gives the low bits of n as a value of an integer kind holds them.
func narrow(k canon.Kind, n uint64) uint64 {
	switch k {
	case canon.KindU8:
		return uint64(uint8(n))
	case canon.KindU16:
		return uint64(uint16(n))
	case canon.KindU32:
		return uint64(uint32(n))
	case canon.KindS8:
		return uint64(int8(n))
	case canon.KindS16:
		return uint64(int16(n))
	case canon.KindS32:
		return uint64(int32(n))
	}
	return n
}

func intLiteral(w string) (uint64, error) {
	w = strings.ReplaceAll(w, "_", "")
	if n, err := strconv.ParseUint(w, 0, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseInt(w, 0, 64)
	return uint64(n), err
}

func floatLiteral(w string, k canon.Kind) (canon.Value, error) {
	w = strings.ReplaceAll(w, "_", "")
	if strings.HasPrefix(strings.TrimLeft(w, "+-"), "nan") {
		w = "nan"
	}
	if strings.Contains(w, "0x") && !strings.ContainsAny(w, "pP") {
		w += "p0"
	}
	bits := 64
	if k == canon.KindF32 {
		bits = 32
	}
	f, err := strconv.ParseFloat(w, bits)
	if err != nil && !math.IsInf(f, 0) {
		return canon.Value{}, err
	}
	if k == canon.KindF32 {
		return canon.Float32(float32(f)), nil
	}
	return canon.Float64(f), nil
}

func seqLiteral(s *sexpr, t *canon.Type) (canon.Value, error) {
	var out []canon.Value
	for i, item := range s.list[1:] {
		et := t.Elem()
		switch t.Kind() {
		case canon.KindTuple:
			et = t.Fields()[i].Type
		case canon.KindRecord:
			if t.Fields()[i].Name != item.list[1].text {
				return canon.Value{}, fmt.Errorf("field %d is %q, not %q", i, t.Fields()[i].Name, item.list[1].text)
			}
			et, item = t.Fields()[i].Type, item.list[2]
			if !item.isList { // (field "x" u32.const 1)
				item = &sexpr{isList: true, list: s.list[i+1].list[2:]}
			}
		}
		v, err := literal(item, et)
		if err != nil {
			return canon.Value{}, err
		}
		out = append(out, v)
	}
	return canon.Seq(out...), nil
}

func flagsLiteral(s *sexpr, t *canon.Type) (canon.Value, error) {
	var bits uint64
	for _, f := range s.list[1:] {
		i := slices.Index(t.Labels(), f.text)
		if i < 0 {
			return canon.Value{}, fmt.Errorf("no flag %q", f.text)
		}
		bits |= 1 << i
	}
	return canon.Bits(bits), nil
}

// caseLiteral reads (variant.const "c" v?), (option.none), (option.some v),
// (result.ok v?) and (result.err v?).
func caseLiteral(s *sexpr, t *canon.Type, kind string) (canon.Value, error) {
	index, rest := 0, s.list[1:]
	switch kind {
	case "option.some", "result.err":
		index = 1
	case "variant":
		index = slices.IndexFunc(t.Cases(), func(c canon.Case) bool { return c.Name == rest[0].text })
		rest = rest[1:]
	}
	if index < 0 {
		return canon.Value{}, fmt.Errorf("no case %q", s.list[1].text)
	}
	if len(rest) == 0 {
		return canon.Cased(uint32(index), nil), nil
	}
	p, err := literal(rest[0], t.Cases()[index].Type)
	return canon.Cased(uint32(index), &p), err
}
