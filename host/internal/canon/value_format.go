package canon

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// EqualValues tells whether a and b, of type t, are the same. Two NaNs are; two
// handles are if they stand for the same thing.
func EqualValues(t *Type, a, b Value) bool {
	switch t.kind {
	case KindString:
		return a.Text() == b.Text()
	case KindList, KindMap, KindFixedList, KindRecord, KindTuple:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !EqualValues(t.part(i), a.At(t, i), b.At(t, i)) {
				return false
			}
		}
		return true
	case KindVariant, KindOption, KindResult:
		return a.Uint() == b.Uint() && equalPayloads(t.cases[a.Uint()].Type, a.Payload(), b.Payload())
	case KindOwn, KindBorrow:
		return a.Rep() == b.Rep()
	default:
		return extend(t.kind, a.Uint()) == extend(t.kind, b.Uint())
	}
}

func equalPayloads(t *Type, a, b *Value) bool {
	if t == nil || a == nil || b == nil {
		return a == b
	}
	return EqualValues(t, *a, *b)
}

// part is the type of the i-th element or field.
func (t *Type) part(i int) *Type {
	if t.elem != nil {
		return t.elem
	}
	return t.fields[i].Type
}

// Format prints a value of type t in the manner of WAVE, the text form of
// component values.
func Format(t *Type, v Value) string {
	var b strings.Builder
	format(&b, t, v)
	return b.String()
}

func format(b *strings.Builder, t *Type, v Value) {
	switch t.kind {
	case KindString:
		b.WriteString(strconv.Quote(v.Text()))
	case KindList, KindMap, KindFixedList:
		formatSeq(b, "[", "]", t, v)
	case KindTuple:
		formatSeq(b, "(", ")", t, v)
	case KindRecord:
		formatSeq(b, "{", "}", t, v)
	case KindVariant, KindOption, KindResult, KindEnum:
		formatCase(b, t, v)
	case KindFlags:
		formatFlags(b, t, v)
	case KindOwn, KindBorrow:
		fmt.Fprintf(b, "%s#%d", t.res.Name, v.Rep().Guest)
	default:
		formatScalar(b, t.kind, v.Uint())
	}
}

func formatSeq(b *strings.Builder, left, right string, t *Type, v Value) {
	b.WriteString(left)
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		if t.kind == KindRecord {
			b.WriteString(t.fields[i].Name + ": ")
		}
		format(b, t.part(i), v.At(t, i))
	}
	b.WriteString(right)
}

func formatCase(b *strings.Builder, t *Type, v Value) {
	c := t.cases[v.Uint()]
	name := c.Name
	if t.kind == KindResult && name == "error" {
		name = "err"
	}
	b.WriteString(name)
	if c.Type == nil {
		return
	}
	b.WriteByte('(')
	format(b, c.Type, *v.Payload())
	b.WriteByte(')')
}

func formatFlags(b *strings.Builder, t *Type, v Value) {
	var set []string
	for i, l := range t.labels {
		if v.Uint()>>i&1 == 1 {
			set = append(set, l)
		}
	}
	b.WriteString("{" + strings.Join(set, ", ") + "}")
}

func formatScalar(b *strings.Builder, k Kind, n uint64) {
	n = extend(k, n)
	switch k {
	case KindBool:
		b.WriteString(strconv.FormatBool(n != 0))
	case KindS8, KindS16, KindS32, KindS64:
		b.WriteString(strconv.FormatInt(int64(n), 10))
	case KindF32:
		b.WriteString(strconv.FormatFloat(float64(math.Float32frombits(uint32(n))), 'g', -1, 32))
	case KindF64:
		b.WriteString(strconv.FormatFloat(math.Float64frombits(n), 'g', -1, 64))
	case KindChar:
		b.WriteString(strconv.QuoteRune(rune(uint32(n))))
	default:
		b.WriteString(strconv.FormatUint(n, 10))
	}
}
