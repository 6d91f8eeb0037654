package wasi

import (
	"io/fs"

	"github.com/murmur-capsule/murmur/host"
)

// A descriptorType is enum descriptor-type.
type descriptorType uint8

const (
	typeUnknown descriptorType = iota
	typeBlockDevice
	typeCharacterDevice
	typeDirectory
	typeFIFO
	typeSymbolicLink
	typeRegularFile
	typeSocket
)

// WITEnum are the names of the cases.
func (descriptorType) WITEnum() []string {
	return []string{
		"unknown", "block-device", "character-device", "directory", "fifo", "symbolic-link", "regular-file", "socket",
	}
}

func descriptorTypeOf(m fs.FileMode) descriptorType {
	switch {
	case m.IsRegular():
		return typeRegularFile
	case m.IsDir():
		return typeDirectory
	case m&fs.ModeSymlink != 0:
		return typeSymbolicLink
	case m&fs.ModeNamedPipe != 0:
		return typeFIFO
	case m&fs.ModeSocket != 0:
		return typeSocket
	case m&fs.ModeCharDevice != 0:
		return typeCharacterDevice
	case m&fs.ModeDevice != 0:
		return typeBlockDevice
	}
	return typeUnknown
}

// descriptorFlags are flags descriptor-flags.
type descriptorFlags uint8

const (
	flagRead descriptorFlags = 1 << iota
	flagWrite
	flagFileIntegritySync
	flagDataIntegritySync
	flagRequestedWriteSync
	flagMutateDirectory

	anySync = flagFileIntegritySync | flagDataIntegritySync | flagRequestedWriteSync
)

// WITFlags are the names of the flags.
func (descriptorFlags) WITFlags() []string {
	return []string{"read", "write", "file-integrity-sync", "data-integrity-sync", "requested-write-sync", "mutate-directory"}
}

// pathFlags are flags path-flags.
type pathFlags uint8

const flagSymlinkFollow pathFlags = 1

// WITFlags are the names of the flags.
func (pathFlags) WITFlags() []string { return []string{"symlink-follow"} }

// openFlags are flags open-flags.
type openFlags uint8

const (
	openCreate openFlags = 1 << iota
	openDirectory
	openExclusive
	openTruncate
)

// WITFlags are the names of the flags.
func (openFlags) WITFlags() []string { return []string{"create", "directory", "exclusive", "truncate"} }

// An advice is enum advice.
type advice uint8

// WITEnum are the names of the cases.
func (advice) WITEnum() []string {
	return []string{"normal", "sequential", "random", "will-need", "dont-need", "no-reuse"}
}

// A descriptorStat is record descriptor-stat.
type descriptorStat struct {
	Type                      descriptorType
	LinkCount                 uint64
	Size                      uint64
	DataAccessTimestamp       *datetime
	DataModificationTimestamp *datetime
	StatusChangeTimestamp     *datetime
}

// A newTimestamp is variant new-timestamp.
type newTimestamp struct {
	NoChange  bool
	Now       bool
	Timestamp *datetime
}

// WITVariant says that exactly one field is set.
func (newTimestamp) WITVariant() {}

// A directoryEntry is record directory-entry.
type directoryEntry struct {
	Type descriptorType
	Name string
}

// A metadataHash is record metadata-hash-value.
type metadataHash struct{ Lower, Upper uint64 }

// A chunkRead is what reading a file answers: tuple<list<u8>, bool>.
type chunkRead struct {
	Data []byte
	End  bool
}

// WITTuple says that it travels as a tuple.
func (chunkRead) WITTuple() {}

// A preopen is tuple<descriptor, string>.
type preopen struct {
	Descriptor host.Own[*descriptor]
	Path       string
}

// WITTuple says that it travels as a tuple.
func (preopen) WITTuple() {}
