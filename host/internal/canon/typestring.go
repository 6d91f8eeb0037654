package canon

import (
	"strconv"
	"strings"
)

// maxTypeText is where the text of a type is cut: what a few bytes describe can
// be endless in words.
const maxTypeText = 512

// String is the type as WIT writes it, with the parts of records, variants,
// enums and flags in braces. A long one is cut.
func (t *Type) String() string {
	var w typeWriter
	w.write(t)
	return w.text()
}

// String is the function type as WIT writes it.
func (f *FuncType) String() string {
	var w typeWriter
	w.add("func(")
	for i, p := range f.Params {
		w.comma(i)
		w.add(p.Name, ": ")
		w.write(p.Type)
	}
	w.add(")")
	if f.Result != nil {
		w.add(" -> ")
		w.write(f.Result)
	}
	return w.text()
}

// String is the signature as the text format writes it.
func (s Signature) String() string {
	var b strings.Builder
	write := func(word string, types []CoreType) {
		if len(types) == 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("(" + word)
		for _, t := range types {
			b.WriteString(" " + coreName(t))
		}
		b.WriteByte(')')
	}
	write("param", s.Params)
	write("result", s.Results)
	if b.Len() == 0 {
		return "()"
	}
	return b.String()
}

func coreName(t CoreType) string {
	switch t {
	case i32:
		return "i32"
	case i64:
		return "i64"
	case f32:
		return "f32"
	case f64:
		return "f64"
	default:
		return "0x" + strconv.FormatUint(uint64(t), 16)
	}
}

type typeWriter struct{ b strings.Builder }

func (w *typeWriter) full() bool { return w.b.Len() > maxTypeText }

func (w *typeWriter) add(parts ...string) {
	for _, p := range parts {
		if !w.full() {
			w.b.WriteString(p)
		}
	}
}

func (w *typeWriter) text() string {
	s := w.b.String()
	if w.full() {
		return strings.ToValidUTF8(s[:maxTypeText], "") + "…"
	}
	return s
}

func (w *typeWriter) comma(i int) {
	if i > 0 {
		w.add(", ")
	}
}

func (w *typeWriter) write(t *Type) {
	if w.full() {
		return
	}
	switch t.kind {
	case KindRecord:
		w.braces("record", len(t.fields), func(i int) { w.named(t.fields[i].Name, t.fields[i].Type) })
	case KindVariant:
		w.braces("variant", len(t.cases), func(i int) { w.cased(t.cases[i]) })
	case KindEnum, KindFlags:
		w.braces(t.kind.String(), len(t.labels), func(i int) { w.add(t.labels[i]) })
	case KindTuple:
		w.angles("tuple", fieldTypes(t.fields)...)
	case KindMap:
		w.angles("map", fieldTypes(t.elem.fields)...)
	case KindResult:
		w.result(t.cases[0].Type, t.cases[1].Type)
	case KindFixedList:
		w.add("list<")
		w.write(t.elem)
		w.add(", ", strconv.FormatUint(uint64(t.length), 10), ">")
	case KindOwn:
		w.add("own<", t.res.Name, ">")
	case KindBorrow:
		w.add("borrow<", t.res.Name, ">")
	default:
		if t.elem == nil {
			w.add(t.kind.String())
			return
		}
		w.angles(t.kind.String(), t.elem)
	}
}

func fieldTypes(fields []Field) []*Type {
	types := make([]*Type, len(fields))
	for i, f := range fields {
		types[i] = f.Type
	}
	return types
}

func (w *typeWriter) named(name string, t *Type) {
	w.add(name, ": ")
	w.write(t)
}

func (w *typeWriter) cased(c Case) {
	w.add(c.Name)
	if c.Type != nil {
		w.add("(")
		w.write(c.Type)
		w.add(")")
	}
}

func (w *typeWriter) braces(word string, n int, each func(i int)) {
	w.add(word, " {")
	for i := 0; i < n && !w.full(); i++ {
		w.comma(i)
		each(i)
	}
	w.add("}")
}

func (w *typeWriter) angles(word string, parts ...*Type) {
	w.add(word, "<")
	for i, p := range parts {
		w.comma(i)
		w.write(p)
	}
	w.add(">")
}

func (w *typeWriter) result(ok, err *Type) {
	switch {
	case ok == nil && err == nil:
		w.add("result")
	case err == nil:
		w.angles("result", ok)
	case ok == nil:
		w.add("result<_, ")
		w.write(err)
		w.add(">")
	default:
		w.angles("result", ok, err)
	}
}
