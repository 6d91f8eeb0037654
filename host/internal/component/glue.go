package component

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// Between a core module and what it imports stands a glue module: it imports
// from wherever the items come from and exports them under the positions of the
// module's imports. Functions that the canonical ABI makes are Go functions
// shared by all instances of a component; glue tells them which instance calls,
// by a global that is set when the glue is instantiated.
const (
	glueHost = "h" // where glue imports made functions from
	glueSelf = "self"
)

func positionName(i int) string { return strconv.Itoa(i) }

// instanceName is the module name under which glue imports from a core
// instance.
func instanceName(i int) string { return "s" + strconv.Itoa(i) }

// glueBuilder writes one glue module.
type glueBuilder struct {
	types   []byte
	keys    map[string]uint64
	imports []byte
	count   [sortCoreGlobal + 1]uint64 // imported, by sort
	total   uint64
	made    []*canonPlan
	madeAt  map[*canonPlan]uint64
	codes   []byte
	funcs   []byte
	wrapped uint64
	exports []byte
	self    bool
	// sources are the core instances it imports from.
	sources []int
}

// glueFor writes the glue between items and the imports of a module, in the
// order of the imports. The bytes depend on nothing but its arguments.
func glueFor(imports []coreImport, items []coreItem) *glueBuilder {
	g := &glueBuilder{keys: map[string]uint64{}, madeAt: map[*canonPlan]uint64{}}
	for _, it := range items {
		if p := it.ref.made; p != nil && g.madeAt[p] == 0 {
			g.importMade(p)
		}
	}
	at := make([]uint64, len(items))
	for i, it := range items {
		if it.ref.made == nil {
			at[i] = g.importItem(it, imports[i].typ)
		}
	}
	for i, it := range items {
		if p := it.ref.made; p != nil {
			at[i] = g.count[sortCoreFunc] + g.wrap(p)
		}
		g.exports = appendName(g.exports, positionName(i))
		g.exports = binary.AppendUvarint(append(g.exports, byte(imports[i].typ.sort)), at[i])
	}
	return g
}

func (g *glueBuilder) typeIndex(params, results []valueType) uint64 {
	t := appendValueTypes(appendValueTypes([]byte{0x60}, params), results)
	i, ok := g.keys[string(t)]
	if !ok {
		i = uint64(len(g.keys))
		g.keys[string(t)] = i
		g.types = append(g.types, t...)
	}
	return i
}

// importMade imports a made function, which takes the instance last.
func (g *glueBuilder) importMade(p *canonPlan) {
	g.imports = appendName(appendName(g.imports, glueHost), positionName(p.index))
	g.imports = append(g.imports, byte(sortCoreFunc))
	g.imports = binary.AppendUvarint(g.imports, g.typeIndex(append(slices.Clone(p.sig.params), valI64), p.sig.results))
	g.made = append(g.made, p)
	g.count[sortCoreFunc]++
	g.total++
	g.madeAt[p] = g.count[sortCoreFunc]
	g.self = true
}

// importItem imports an export of a core instance by the type that the module
// asks for.
func (g *glueBuilder) importItem(it coreItem, want coreExtern) uint64 {
	if !slices.Contains(g.sources, it.ref.instance) {
		g.sources = append(g.sources, it.ref.instance)
	}
	g.imports = appendName(appendName(g.imports, instanceName(it.ref.instance)), it.ref.name)
	if want.sort == sortCoreFunc {
		g.imports = binary.AppendUvarint(append(g.imports, 0), g.typeIndex(want.fn.params, want.fn.results))
	} else {
		g.imports = appendExternType(g.imports, want)
	}
	g.total++
	g.count[want.sort]++
	return g.count[want.sort] - 1
}

// wrap adds a function that calls a made one with the instance, and gives its
// position among the functions that glue defines.
func (g *glueBuilder) wrap(p *canonPlan) uint64 {
	body := []byte{0} // no locals
	for i := range p.sig.params {
		body = binary.AppendUvarint(append(body, 0x20), uint64(i))
	}
	body = binary.AppendUvarint(append(body, 0x23), g.count[sortCoreGlobal])
	body = binary.AppendUvarint(append(body, 0x10), g.madeAt[p]-1)
	body = append(body, 0x0b)
	g.codes = append(binary.AppendUvarint(g.codes, uint64(len(body))), body...)
	g.funcs = binary.AppendUvarint(g.funcs, g.typeIndex(p.sig.params, p.sig.results))
	g.self = true
	g.wrapped++
	return g.wrapped - 1
}

func (g *glueBuilder) bytes(exports int) []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	vec := func(id byte, n uint64, contents []byte) {
		if n > 0 {
			b = appendSection(b, id, append(binary.AppendUvarint(nil, n), contents...))
		}
	}
	vec(1, uint64(len(g.keys)), g.types)
	vec(2, g.total, g.imports)
	vec(3, g.wrapped, g.funcs)
	if g.self {
		vec(6, 1, []byte{byte(valI64), 1, 0x42, 0, 0x0b})
		g.exports = appendName(g.exports, glueSelf)
		g.exports = binary.AppendUvarint(append(g.exports, byte(sortCoreGlobal)), g.count[sortCoreGlobal])
		exports++
	}
	vec(7, uint64(exports), g.exports)
	vec(10, g.wrapped, g.codes)
	return b
}
