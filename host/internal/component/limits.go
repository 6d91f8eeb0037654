package component

// What a component may ask of the host. The numbers are far above anything a
// toolchain emits and low enough that the worst input costs well under a
// second and some tens of megabytes before it is refused.
const (
	// maxBytes bounds the whole binary.
	maxBytes = 512 << 20
	// maxComponentDepth bounds components within components.
	maxComponentDepth = 32
	// maxTypeNesting bounds component and instance types within one another in
	// the binary.
	maxTypeNesting = 32
	// maxTypeDepth bounds how deep a value type nests; a deeper one would
	// overflow the stack of whoever walks it.
	maxTypeDepth = 100
	// maxTypeSize bounds the nodes of one type when it is written out in full:
	// sharing lets a few bytes stand for an exponentially large type.
	maxTypeSize = 1_000_000
	// maxTypeWork bounds the nodes visited by type checking in one component.
	maxTypeWork = 20_000_000
	// maxValueBytes bounds the size of a value in memory (CanonicalABI.md,
	// element size).
	maxValueBytes = 1 << 28
	// maxIndexSpace bounds the definitions in one index space.
	maxIndexSpace = 1_000_000
	// maxModules bounds the core modules of one binary: each is compiled.
	maxModules = 1_000
	// maxNameBytes bounds one name.
	maxNameBytes = 100_000
	// maxFlags is the number of labels a flags type may have.
	maxFlags = 32
	// maxParams bounds the parameters of one function.
	maxParams = 1_000
	// maxCanons bounds the functions of the canonical ABI in one binary, and
	// maxPlanned the nodes of their types: each gets a plan of its own.
	maxCanons  = 20_000
	maxPlanned = 1_000_000
	// maxTextNodes bounds the type nodes that are written out as WIT for people.
	maxTextNodes = 100_000
	// maxLinks bounds the imports that all core instances together take: glue is
	// compiled for each.
	maxLinks = 500_000
	// maxInstances bounds the component and core instances that one
	// instantiation makes: nesting makes their number exponential in the bytes.
	maxInstances = 10_000
	// defaultMemory is what the memories and tables of one component may take
	// together at the start, in bytes.
	defaultMemory = 4 << 30
)
