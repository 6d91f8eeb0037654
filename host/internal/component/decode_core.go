package component

// readCoreInstance reads core:instance.
func readCoreInstance(r *reader) *defCoreInstance {
	d := &defCoreInstance{pos: pos(r.pos)}
	switch b := r.byte(); b {
	case 0:
		d.instantiate = true
		d.module = r.u32()
		n := r.count("arguments")
		for i := 0; i < n && r.ok(); i++ {
			a := coreArg{name: r.name()}
			if k := r.byte(); k != 0x12 {
				r.badLeading(k, "instantiation arg kind")
			}
			a.instance = r.u32()
			d.args = append(d.args, a)
		}
	case 1:
		n := r.count("exports")
		for i := 0; i < n && r.ok(); i++ {
			d.exports = append(d.exports, coreInlineExport{r.name(), readCoreExternSort(r), r.u32()})
		}
	default:
		r.badLeading(b, "core instance")
	}
	return d
}

// readCoreExternSort reads a sort that core modules can export.
func readCoreExternSort(r *reader) sort {
	b := r.byte()
	if b > 4 {
		r.badLeading(b, "external kind")
		return 0
	}
	return sort(b)
}

// readCoreType reads core:type. Module types are allowed at the top only: a
// module type cannot hold another.
func readCoreType(r *reader, moduleAllowed bool) rawCoreType {
	switch b := r.byte(); b {
	case 0x50:
		if !moduleAllowed {
			r.badLeading(b, "core type of a module type")
			return rawCoreType{}
		}
		return rawCoreType{isModule: true, decls: readModuleDecls(r)}
	case 0x00: // the prefix that tells a non-final sub type from a module type
		if b := r.byte(); b != 0x50 {
			r.badLeading(b, "core sub type")
		}
		return rawCoreType{fn: readSubType(r)}
	default:
		return rawCoreType{fn: readCompType(r, b)}
	}
}

// readSubType reads the rest of a sub type: its supertypes, then a function
// type, the only form a component can make use of.
func readSubType(r *reader) *coreFuncType {
	n := r.count("supertypes")
	for i := 0; i < n && r.ok(); i++ {
		r.u32()
	}
	return readCompType(r, r.byte())
}

func readCompType(r *reader, b byte) *coreFuncType {
	switch b {
	case 0x60:
		return readFuncType(r)
	case 0x4f:
		return readSubType(r)
	case 0x4e, 0x5d, 0x5e, 0x5f:
		r.failAt(r.pos-1, "core type 0x%x is not supported: garbage collection is not part of this host", b)
	default:
		r.badLeading(b, "core type")
	}
	return nil
}

func readFuncType(r *reader) *coreFuncType {
	return &coreFuncType{params: readValueTypes(r), results: readValueTypes(r)}
}

func readValueTypes(r *reader) []valueType {
	n := r.count("value types")
	if n > maxParams {
		r.fail("core function with %d parameters or results, the limit is %d", n, maxParams)
		return nil
	}
	types := make([]valueType, 0, n)
	for i := 0; i < n && r.ok(); i++ {
		types = append(types, readValueType(r))
	}
	return types
}

func readValueType(r *reader) valueType {
	b := r.byte()
	if _, ok := valueTypeNames[valueType(b)]; !ok {
		r.badLeading(b, "value type")
	}
	return valueType(b)
}

func readModuleDecls(r *reader) []rawModuleDecl {
	n := r.count("declarations")
	var decls []rawModuleDecl
	for i := 0; i < n && r.ok(); i++ {
		decls = append(decls, readModuleDecl(r))
	}
	return decls
}

func readModuleDecl(r *reader) rawModuleDecl {
	d := rawModuleDecl{at: r.pos}
	switch d.kind = r.byte(); d.kind {
	case 0:
		d.module, d.name = r.name(), r.name()
		d.desc = readCoreExtern(r)
	case 1:
		d.fn = readCoreType(r, false).fn
	case 2:
		if b := r.byte(); b != 0x10 {
			r.badLeading(b, "outer alias kind")
		}
		if b := r.byte(); b != 0x01 {
			r.badLeading(b, "outer alias target")
		}
		d.count, d.index = r.u32(), r.u32()
	case 3:
		d.name = r.name()
		d.desc = readCoreExtern(r)
	default:
		r.badLeading(d.kind, "type definition")
	}
	return d
}

// readCoreExtern reads core:externtype.
func readCoreExtern(r *reader) rawCoreExtern {
	b := r.byte()
	e := rawCoreExtern{sort: sort(b)}
	switch b {
	case 0:
		e.index = r.u32()
	case 1:
		e.table = readTableType(r)
	case 2:
		e.memory = readLimits(r)
	case 3:
		e.global = globalType{value: readValueType(r), mutable: r.boolean()}
	case 4:
		if a := r.byte(); a != 0 {
			r.badLeading(a, "tag attribute")
		}
		e.index = r.u32()
	default:
		r.badLeading(b, "external kind")
		e.sort = 0
	}
	return e
}

func readTableType(r *reader) tableType {
	return tableType{elem: readValueType(r), limits: readLimits(r)}
}

func readLimits(r *reader) limits {
	b := r.byte()
	if b > 0x0f {
		r.badLeading(b, "limits flags")
	}
	l := limits{hasMax: b&1 != 0, shared: b&2 != 0, is64: b&4 != 0}
	l.min = r.u64()
	if l.hasMax {
		l.max = r.u64()
	}
	if b&8 != 0 {
		l.pageSize = r.u32() + 1
	}
	return l
}
