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
	// maxLinks bounds the imports that all core instances together take: glue is
	// compiled for each.
	maxLinks = 500_000
	// maxInstances bounds the component and core instances that one
	// instantiation makes: nesting makes their number exponential in the bytes.
	maxInstances = 10_000
)
