package component

// readInstance reads instance.
func readInstance(r *reader) *defInstance {
	d := &defInstance{pos: pos(r.pos)}
	switch b := r.byte(); b {
	case 0:
		d.instantiate = true
		d.component = r.u32()
		n := r.count("arguments")
		for i := 0; i < n && r.ok(); i++ {
			d.args = append(d.args, instanceArg{r.name(), readExternSort(r), r.u32()})
		}
	case 1:
		n := r.count("exports")
		for i := 0; i < n && r.ok(); i++ {
			d.exports = append(d.exports, inlineExport{readExternName(r), readExternSort(r), r.u32()})
		}
	default:
		r.badLeading(b, "instance")
	}
	return d
}

// readExternSort reads a sort that components can import and export.
func readExternSort(r *reader) sort {
	switch b := r.byte(); b {
	case 0:
		if c := r.byte(); c != 0x11 {
			r.badLeading(c, "component external kind")
		}
		return sortCoreModule
	case 1:
		return sortFunc
	case 2:
		return sortValue
	case 3:
		return sortType
	case 4:
		return sortComponent
	case 5:
		return sortInstance
	default:
		r.badLeading(b, "component external kind")
		return 0
	}
}

var coreSorts = map[byte]sort{0: sortCoreFunc, 1: sortCoreTable, 2: sortCoreMemory, 3: sortCoreGlobal,
	4: sortCoreTag, 0x10: sortCoreType, 0x11: sortCoreModule, 0x12: sortCoreInstance}

var componentSorts = map[byte]sort{1: sortFunc, 2: sortValue, 3: sortType, 4: sortComponent, 5: sortInstance}

// readAlias reads alias. Which sorts are allowed depends on the target, which
// comes after the sort, and so does what is said of a bad one.
func readAlias(r *reader) *defAlias {
	d := &defAlias{pos: pos(r.pos)}
	at := r.pos
	first := r.byte()
	second := byte(0)
	known := false
	if first == 0 {
		at = r.pos
		second = r.byte()
		d.sort, known = coreSorts[second]
	} else {
		d.sort, known = componentSorts[first]
		second = first
	}
	switch b := r.byte(); b {
	case 0:
		d.kind, d.instance, d.name = aliasExport, r.u32(), r.name()
		known = known && (d.sort >= sortFunc || d.sort == sortCoreModule)
		checkAliasSort(r, at, known, second, "component external kind")
	case 1:
		d.kind, d.instance, d.name = aliasCoreExport, r.u32(), r.name()
		checkAliasSort(r, at, known && d.sort <= sortCoreTag, second, "core external kind")
	case 2:
		d.kind, d.count, d.index = aliasOuter, r.u32(), r.u32()
		outer := d.sort == sortCoreModule || d.sort == sortCoreType || d.sort == sortType || d.sort == sortComponent
		checkAliasSort(r, at, known && outer, second, "component outer alias kind")
	default:
		r.badLeading(b, "alias")
	}
	return d
}

func checkAliasSort(r *reader, at int, ok bool, b byte, what string) {
	if !ok {
		r.failAt(at, "invalid leading byte (0x%x) for %s", b, what)
	}
}

// readExtern reads externtype.
func readExtern(r *reader) rawExtern {
	e := rawExtern{sort: readExternSort(r)}
	switch {
	case !r.ok():
	case e.sort == sortValue:
		r.fail("value imports and exports are not supported: the value feature of the component model is not active")
	case e.sort == sortType:
		switch b := r.byte(); b {
		case 0:
			e.index = r.u32()
		case 1:
			e.resource = true
		default:
			r.badLeading(b, "type bound")
		}
	default:
		e.index = r.u32()
	}
	return e
}

func readExport(r *reader) *defExport {
	d := &defExport{pos: pos(r.pos), name: readExternName(r), sort: readExternSort(r), index: r.u32()}
	switch b := r.byte(); b {
	case 0:
	case 1:
		e := readExtern(r)
		d.ascribed = &e
	default:
		r.badLeading(b, "optional component export type")
	}
	return d
}

// readExternName reads nameattributes. The prefixes 0 and 1 mean the same: 1
// once marked interface names.
func readExternName(r *reader) externName {
	b := r.byte()
	if b > 2 {
		r.badLeading(b, "component name")
	}
	n := externName{name: r.name()}
	if b != 2 {
		return n
	}
	count := r.count("name options")
	for i := 0; i < count && r.ok(); i++ {
		readNameOption(r, &n)
	}
	return n
}

func readNameOption(r *reader, n *externName) {
	at := r.pos
	b := r.byte()
	if b > 2 {
		r.badLeading(b, "name option")
		return
	}
	slot := [...]**string{&n.implements, &n.versionSuffix, &n.externalID}[b]
	what := [...]string{"implements", "versionsuffix", "external-id"}[b]
	if *slot != nil {
		r.failAt(at, "duplicate '%s' option in name", what)
	}
	v := r.name()
	*slot = &v
}
