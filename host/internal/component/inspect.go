package component

// Info shows the inside of a component.
type Info struct {
	// Offset and Size say where the component lies in the binary.
	Offset, Size int
	Imports      []Extern
	Exports      []Extern
	Modules      []ModuleInfo
	Components   []Info
	// CoreInstances and Instances count the definitions, bundles of exports not
	// included.
	CoreInstances, Instances int
	Customs                  []CustomSection
	// Producers are the tools that made the component, by field and name.
	Producers []Producer
}

// ModuleInfo shows a core module.
type ModuleInfo struct {
	Offset, Size     int
	Imports, Exports int
	// Producers are the tools that made it.
	Producers []Producer
}

// Producer is one entry of a producers section.
type Producer struct{ Field, Name, Version string }

// Inspect decodes and validates a component without compiling it.
func Inspect(data []byte) (*Info, error) {
	raw, err := decode(data)
	if err != nil {
		return nil, err
	}
	t, err := validate(data, raw)
	if err != nil {
		return nil, err
	}
	info := inspect(data, raw, t)
	return &info, nil
}

func inspect(data []byte, raw *rawComponent, t *template) Info {
	info := Info{Offset: raw.at, Size: raw.end - raw.at, Imports: describe(t.typ.imports), Exports: describe(t.typ.exports),
		Customs: raw.customs}
	for _, m := range t.modules {
		info.Modules = append(info.Modules, ModuleInfo{
			Offset: m.start, Size: m.end - m.start, Imports: len(m.typ.imports), Exports: len(m.typ.exports),
			Producers: ModuleProducers(data[m.start:m.end]),
		})
	}
	for _, s := range t.steps {
		switch s.(type) {
		case *stepCoreInstantiate:
			info.CoreInstances++
		case *stepInstantiate:
			info.Instances++
		}
	}
	nested := 0
	for _, d := range raw.defs {
		if c, ok := d.(*defComponent); ok {
			info.Components = append(info.Components, inspect(data, c.body, t.nestedAt(nested)))
			nested++
		}
	}
	for _, c := range raw.customs {
		if c.Name == "producers" {
			info.Producers = append(info.Producers, readProducers(c.Data)...)
		}
	}
	return info
}

// ModuleProducers are the tools that made a core module.
func ModuleProducers(module []byte) (out []Producer) {
	r := newReader(module)
	r.sub(uint32(preambleBytes))
	for r.more() {
		id := r.byte()
		s := r.sub(r.u32())
		if id == 0 && r.ok() && s.name() == "producers" {
			out = append(out, readProducers(module[s.pos:s.end])...)
		}
	}
	return out
}

// nestedAt gives the n-th component defined within t.
func (t *template) nestedAt(n int) *template {
	for _, s := range t.steps {
		if c, ok := s.(*stepComponent); ok {
			if n == 0 {
				return c.template
			}
			n--
		}
	}
	return nil
}

// readProducers reads a producers section; what is malformed is left out, for
// nothing depends on it.
func readProducers(data []byte) []Producer {
	r := newReader(data)
	var out []Producer
	for n := r.count("fields"); n > 0 && r.ok(); n-- {
		field := r.name()
		for m := r.count("values"); m > 0 && r.ok(); m-- {
			p := Producer{field, r.name(), r.name()}
			if r.ok() {
				out = append(out, p)
			}
		}
	}
	return out
}
