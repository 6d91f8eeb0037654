package component

// sort names an index space (Binary.md, sort and core:sort).
type sort uint8

const (
	sortCoreFunc sort = iota
	sortCoreTable
	sortCoreMemory
	sortCoreGlobal
	sortCoreTag
	sortCoreType
	sortCoreModule
	sortCoreInstance
	sortFunc
	sortValue
	sortType
	sortComponent
	sortInstance
)

var sortNames = [...]string{"core function", "table", "memory", "global", "tag", "core type", "module",
	"core instance", "function", "value", "type", "component", "instance"}

func (s sort) String() string { return sortNames[s] }

// rawComponent is a decoded component: its definitions in the order of the
// file, indices not yet resolved.
type rawComponent struct {
	at, end int
	defs    []def
	customs []CustomSection
}

// CustomSection is a named section that means nothing to linking.
type CustomSection struct {
	Name string
	Data []byte
}

// def is one definition; position is its offset in the binary.
type def interface{ position() int }

type pos int

func (p pos) position() int { return int(p) }

// defModule is an embedded core module: data[start:end].
type defModule struct {
	pos
	start, end int
}

// defCoreInstance instantiates a core module or bundles core exports.
type defCoreInstance struct {
	pos
	instantiate bool
	module      uint32
	args        []coreArg
	exports     []coreInlineExport
}

type coreArg struct {
	name     string
	instance uint32
}

type coreInlineExport struct {
	name  string
	sort  sort
	index uint32
}

// defCoreType adds a core function type or a core module type.
type defCoreType struct {
	pos
	typ rawCoreType
}

// rawCoreType is a core function type, or a core module type if decls is used.
type rawCoreType struct {
	fn       *coreFuncType
	isModule bool
	decls    []rawModuleDecl
}

// rawModuleDecl is one declaration of a core module type.
type rawModuleDecl struct {
	at     int
	kind   byte // 0 import, 1 type, 2 outer alias, 3 export
	module string
	name   string
	desc   rawCoreExtern
	fn     *coreFuncType
	count  uint32
	index  uint32
}

// rawCoreExtern is the type of a core import or export; functions and tags
// refer to a type by index.
type rawCoreExtern struct {
	sort   sort
	index  uint32
	table  tableType
	memory limits
	global globalType
}

// defComponent is a nested component.
type defComponent struct {
	pos
	body *rawComponent
}

// defInstance instantiates a component or bundles exports.
type defInstance struct {
	pos
	instantiate bool
	component   uint32
	args        []instanceArg
	exports     []inlineExport
}

type instanceArg struct {
	name  string
	sort  sort
	index uint32
}

type inlineExport struct {
	name  externName
	sort  sort
	index uint32
}

type aliasKind uint8

const (
	aliasExport aliasKind = iota
	aliasCoreExport
	aliasOuter
)

// defAlias adds an index for something defined elsewhere.
type defAlias struct {
	pos
	kind     aliasKind
	sort     sort
	instance uint32 // of export aliases
	name     string
	count    uint32 // of outer aliases
	index    uint32
}

// defType adds a type.
type defType struct {
	pos
	typ rawType
}

type defImport struct {
	pos
	name externName
	typ  rawExtern
}

type defExport struct {
	pos
	name     externName
	sort     sort
	index    uint32
	ascribed *rawExtern
}

// externName is an import or export name with its attributes.
type externName struct {
	name          string
	implements    *string
	versionSuffix *string
	externalID    *string
}

// rawExtern is the declared type of an import or export.
type rawExtern struct {
	sort     sort
	index    uint32
	resource bool // a type bound (sub resource)
}

// rawValType is a primitive or a reference to a type.
type rawValType struct {
	prim  kind
	isRef bool
	index uint32
}

// rawType is one type definition.
type rawType struct {
	kind   kind
	fields []rawField // record, variant, function parameters
	elems  []rawValType
	labels []string
	elem   *rawValType // list, option, stream, future, ok, map key, function result
	other  *rawValType // error, map value
	length uint32      // of a list of fixed length
	index  uint32      // own, borrow
	async  bool
	rep    valueType // resource
	dtor   *uint32
	decls  []rawDecl // component and instance types
}

type rawField struct {
	label string
	typ   *rawValType
}

// rawDecl is one declaration of a component or instance type; exactly one
// member is set.
type rawDecl struct {
	at       int
	coreType *rawCoreType
	typ      *rawType
	alias    *defAlias
	imp      *defImport
	exp      *defImport
}

// kind tells the forms of types apart.
type kind uint8

const (
	kindBool kind = iota
	kindS8
	kindU8
	kindS16
	kindU16
	kindS32
	kindU32
	kindS64
	kindU64
	kindF32
	kindF64
	kindChar
	kindString
	kindErrorContext
	kindRecord
	kindVariant
	kindList
	kindFixedList
	kindTuple
	kindFlags
	kindEnum
	kindOption
	kindResult
	kindOwn
	kindBorrow
	kindStream
	kindFuture
	kindMap
	kindFunc
	kindComponent
	kindInstance
	kindResource
)

var kindNames = [...]string{"bool", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64", "f32", "f64", "char",
	"string", "error-context", "record", "variant", "list", "fixed-length list", "tuple", "flags", "enum", "option",
	"result", "own", "borrow", "stream", "future", "map", "func", "component", "instance", "resource"}

func (k kind) String() string { return kindNames[k] }

func (k kind) primitive() bool { return k <= kindErrorContext }
