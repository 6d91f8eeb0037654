package canon

import (
	"reflect"
	"strings"
	"unicode"
	"unsafe"
)

// A slot is one part of a struct: a record's field, or a function's parameter.
type slot struct {
	codec  codec
	goOff  uintptr
	memOff uint32
	lane   int
	lanes  int
}

// A recordCodec is a record or tuple, as a Go struct with the same fields.
type recordCodec struct{ slots []slot }

func (k *compiler) record(t *Type, g reflect.Type) (codec, error) {
	if g.Kind() != reflect.Struct || isMarked(g) {
		return nil, k.mismatch(t, g)
	}
	fields := fieldsOf(g)
	if len(fields) != len(t.fields) {
		return nil, k.errorf("a Go %s of %d fields cannot hold WIT %s of %d", g, len(fields), t.kind, len(t.fields))
	}
	r := &recordCodec{slots: make([]slot, len(fields))}
	lane := 0
	for i, f := range fields {
		want := t.fields[i]
		if t.kind == KindRecord && witName(f) != want.Name {
			return nil, k.errorf("field %d of Go %s is %q, of the WIT record %q", i, g, witName(f), want.Name)
		}
		c, err := k.in(want.Name, want.Type, f.Type)
		if err != nil {
			return nil, err
		}
		n := len(want.Type.layout.flat.types)
		r.slots[i] = slot{codec: c, goOff: f.Offset, memOff: t.layout.offsets[i], lane: lane, lanes: n}
		lane += n
	}
	return r, nil
}

// fieldsOf are the fields of a struct, in order.
func fieldsOf(g reflect.Type) []reflect.StructField {
	fields := make([]reflect.StructField, g.NumField())
	for i := range fields {
		fields[i] = g.Field(i)
	}
	return fields
}

// witName is the name of a struct's field in WIT: its tag, or its Go name in
// kebab case.
func witName(f reflect.StructField) string {
	if tag := f.Tag.Get("wit"); tag != "" {
		return tag
	}
	return kebab(f.Name)
}

// kebab turns a Go name into one of WIT: LogPath is log-path, ContextID is
// context-id.
func kebab(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 {
			before := unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1])
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if before || after {
				b.WriteByte('-')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func (r *recordCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	for i := range r.slots {
		s := &r.slots[i]
		if err := s.codec.load(c, p+s.memOff, unsafe.Add(dst, s.goOff)); err != nil {
			return err
		}
	}
	return nil
}

func (r *recordCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	for i := range r.slots {
		s := &r.slots[i]
		if err := s.codec.store(c, p+s.memOff, unsafe.Add(src, s.goOff)); err != nil {
			return err
		}
	}
	return nil
}

func (r *recordCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	for i := range r.slots {
		s := &r.slots[i]
		if err := s.codec.lift(c, lanes[s.lane:s.lane+s.lanes], unsafe.Add(dst, s.goOff)); err != nil {
			return err
		}
	}
	return nil
}

func (r *recordCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	for i := range r.slots {
		s := &r.slots[i]
		if err := s.codec.lower(c, lanes[s.lane:s.lane+s.lanes], unsafe.Add(src, s.goOff)); err != nil {
			return err
		}
	}
	return nil
}
