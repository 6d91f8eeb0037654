package precheck

// Limits bound what a file may ask for. A zero field stands for the default,
// which lets the output of every toolchain that we know pass: the numbers behind
// the defaults are in the comments.
type Limits struct {
	// FileBytes is the size of the file. Defaults to 128 MiB; CPython with its
	// standard library is 35 MB.
	FileBytes uint64
	// MemoryPages is what a memory may start with, in pages of 64 KiB. Defaults
	// to 8,192, which is 512 MiB.
	MemoryPages uint32
	// TableElements is what all tables together start with. Defaults to
	// 2,000,000, 16 MB in wazero.
	TableElements uint64
}

// The bounds that need no configuration. Those on counts are the ones that the
// engines of browsers agree on, or lower where real modules stay far below.
const (
	maxTypes        = 20_000
	maxTypeValues   = 200_000 // parameters and results of all types
	maxParams       = 1_000
	maxResults      = 1_000
	maxImports      = 10_000
	maxExports      = 50_000
	maxFunctions    = 200_000
	maxGlobals      = 50_000
	maxTables       = 1_000
	maxSegments     = 100_000
	maxElements     = 1_000_000 // of all element segments
	maxConstExprOps = 1_000
	maxNameBytes    = 100_000
	maxCustoms      = 10_000

	maxLocals      = 50_000
	maxLocalsTotal = 2_000_000
	maxBodyBytes   = 2 << 20
	maxNesting     = 10_000
	maxPlaces      = 4_000_000 // loops and bulk instructions of all functions

	// The engine looks at each pair of them when it describes a function, and
	// for each reference in a constant expression.
	maxFunctionExports  = 1_000_000_000
	maxImportReferences = 1_000_000_000
)

func (l Limits) withDefaults() Limits {
	if l.FileBytes == 0 {
		l.FileBytes = 128 << 20
	}
	if l.MemoryPages == 0 {
		l.MemoryPages = 8192
	}
	if l.TableElements == 0 {
		l.TableElements = 2_000_000
	}
	return l
}
