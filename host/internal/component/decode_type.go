package component

// typeKinds are the types that are not primitive, by their opcode.
var typeKinds = map[byte]kind{
	0x72: kindRecord, 0x71: kindVariant, 0x70: kindList, 0x67: kindFixedList, 0x6f: kindTuple, 0x6e: kindFlags,
	0x6d: kindEnum, 0x6b: kindOption, 0x6a: kindResult, 0x69: kindOwn, 0x68: kindBorrow, 0x66: kindStream,
	0x65: kindFuture, 0x63: kindMap, 0x40: kindFunc, 0x43: kindFunc, 0x41: kindComponent, 0x42: kindInstance,
	0x3f: kindResource,
}

// primKind gives the primitive type of an opcode.
func primKind(b byte) (kind, bool) {
	switch {
	case b == 0x64:
		return kindErrorContext, true
	case b >= 0x73 && b <= 0x7f:
		return kind(0x7f - b), true
	}
	return 0, false
}

// readType reads one type definition.
func readType(r *reader, depth int) rawType {
	if depth > maxTypeNesting {
		r.fail("types nest deeper than %d", maxTypeNesting)
		return rawType{}
	}
	b := r.byte()
	if k, ok := primKind(b); ok {
		return rawType{kind: k}
	}
	k, ok := typeKinds[b]
	if !ok {
		r.badLeading(b, "component defined type")
		return rawType{}
	}
	t := rawType{kind: k, async: b == 0x43}
	readTypeBody(r, &t, depth)
	return t
}

func readTypeBody(r *reader, t *rawType, depth int) {
	switch t.kind {
	case kindRecord:
		t.fields = readFields(r)
	case kindVariant:
		t.fields = readCases(r)
	case kindTuple:
		t.elems = readElems(r)
	case kindFlags, kindEnum:
		t.labels = readLabels(r)
	case kindList, kindOption:
		t.elem = readValType(r)
	case kindFixedList:
		t.elem, t.length = readValType(r), r.u32()
	case kindMap:
		t.elem, t.other = readValType(r), readValType(r)
	case kindResult:
		t.elem, t.other = readOptValType(r), readOptValType(r)
	case kindStream, kindFuture:
		t.elem = readOptValType(r)
	case kindOwn, kindBorrow:
		t.index = r.u32()
	case kindFunc:
		t.fields, t.elem = readFields(r), readResultList(r)
	case kindComponent, kindInstance:
		t.decls = readDecls(r, t.kind, depth)
	case kindResource:
		readResource(r, t)
	}
}

func readResource(r *reader, t *rawType) {
	t.rep = readValueType(r)
	if r.boolean() {
		dtor := r.u32()
		t.dtor = &dtor
	}
}

func readValType(r *reader) *rawValType {
	if k, ok := primKind(r.peek()); ok {
		r.byte()
		return &rawValType{prim: k}
	}
	at := r.pos
	v := r.s33()
	if v < 0 {
		r.failAt(at, "invalid leading byte (0x%x) for component value type", r.data[at])
	}
	return &rawValType{isRef: true, index: uint32(v)}
}

func readOptValType(r *reader) *rawValType {
	switch b := r.byte(); b {
	case 0:
		return nil
	case 1:
		return readValType(r)
	default:
		r.badLeading(b, "optional component value type")
		return nil
	}
}

func readFields(r *reader) []rawField {
	n := r.count("fields")
	fields := make([]rawField, 0, min(n, 1024))
	for i := 0; i < n && r.ok(); i++ {
		fields = append(fields, rawField{r.name(), readValType(r)})
	}
	return fields
}

func readCases(r *reader) []rawField {
	n := r.count("cases")
	cases := make([]rawField, 0, min(n, 1024))
	for i := 0; i < n && r.ok(); i++ {
		cases = append(cases, rawField{r.name(), readOptValType(r)})
		if b := r.byte(); b != 0 { // once a refined case
			r.badLeading(b, "zero byte required")
		}
	}
	return cases
}

func readElems(r *reader) []rawValType {
	n := r.count("types")
	elems := make([]rawValType, 0, min(n, 1024))
	for i := 0; i < n && r.ok(); i++ {
		elems = append(elems, *readValType(r))
	}
	return elems
}

func readLabels(r *reader) []string {
	n := r.count("labels")
	labels := make([]string, 0, min(n, 1024))
	for i := 0; i < n && r.ok(); i++ {
		labels = append(labels, r.name())
	}
	return labels
}

func readResultList(r *reader) *rawValType {
	switch b := r.byte(); b {
	case 0:
		return readValType(r)
	case 1:
		if n := r.byte(); n != 0 {
			r.badLeading(n, "number of results")
		}
	default:
		r.badLeading(b, "component function results")
	}
	return nil
}

// readDecls reads the inside of a component or instance type.
func readDecls(r *reader, k kind, depth int) []rawDecl {
	n := r.count("declarations")
	var decls []rawDecl
	for i := 0; i < n && r.ok(); i++ {
		decls = append(decls, readDecl(r, k, depth))
	}
	return decls
}

func readDecl(r *reader, k kind, depth int) rawDecl {
	d := rawDecl{at: r.pos}
	b := r.byte()
	at := pos(r.pos)
	switch {
	case b == 0:
		t := readCoreType(r, true)
		d.coreType = &t
	case b == 1:
		t := readType(r, depth+1)
		d.typ = &t
	case b == 2:
		d.alias = readAlias(r)
	case b == 3 && k == kindComponent:
		d.imp = &defImport{at, readExternName(r), readExtern(r)}
	case b == 4:
		d.exp = &defImport{at, readExternName(r), readExtern(r)}
	default:
		r.badLeading(b, "component or instance type declaration")
	}
	return d
}
