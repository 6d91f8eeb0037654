package wasi

import (
	"encoding/binary"
	"hash/maphash"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/tetratelabs/wazero/sys"
)

// info is what the system says of the descriptor's file or directory.
func (d *descriptor) info() (fs.FileInfo, error) {
	if d.file != nil {
		return d.file.h.Stat()
	}
	return d.root.Stat(".")
}

// infoAt is what the system says of a path.
func (d *descriptor) infoAt(follow pathFlags, p string) (fs.FileInfo, error) {
	root, name, err := d.at(p)
	if err != nil {
		return nil, err
	}
	if follow&flagSymlinkFollow != 0 {
		return root.Stat(name)
	}
	return root.Lstat(name)
}

func (d *descriptor) getType() (descriptorType, error) {
	if d.root != nil {
		return typeDirectory, nil
	}
	return typeRegularFile, nil
}

func (d *descriptor) getFlags() (descriptorFlags, error) { return d.flags, nil }

func (d *descriptor) stat() (descriptorStat, error) { return statOf(d.info()) }

func (d *descriptor) statAt(follow pathFlags, p string) (descriptorStat, error) {
	return statOf(d.infoAt(follow, p))
}

func statOf(info fs.FileInfo, err error) (descriptorStat, error) {
	if err != nil {
		return descriptorStat{}, err
	}
	st := sys.NewStat_t(info)
	return descriptorStat{
		Type:                      descriptorTypeOf(st.Mode),
		LinkCount:                 st.Nlink,
		Size:                      uint64(max(st.Size, 0)),
		DataAccessTimestamp:       timestampOf(st.Atim),
		DataModificationTimestamp: timestampOf(st.Mtim),
		StatusChangeTimestamp:     timestampOf(st.Ctim),
	}, nil
}

// timestampOf is a time in nanoseconds since 1970; there is none before.
func timestampOf(ns int64) *datetime {
	if ns < 0 {
		return nil
	}
	return &datetime{uint64(ns / 1e9), uint32(ns % 1e9)}
}

func (d *descriptor) isSameObject(other *descriptor) bool {
	a, errA := d.info()
	b, errB := other.info()
	return errA == nil && errB == nil && os.SameFile(a, b)
}

func (d *descriptor) metadataHash() (metadataHash, error) { return hashOf(d.info()) }

func (d *descriptor) metadataHashAt(follow pathFlags, p string) (metadataHash, error) {
	return hashOf(d.infoAt(follow, p))
}

var hashSeed = maphash.MakeSeed()

// hashOf tells files apart, and the states of a file. Its lower half is the same
// as long as the file exists: libraries take it for the number of the inode.
func hashOf(info fs.FileInfo, err error) (metadataHash, error) {
	if err != nil {
		return metadataHash{}, err
	}
	st := sys.NewStat_t(info)
	var b []byte
	for _, n := range []uint64{st.Dev, st.Ino} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	lower := maphash.Bytes(hashSeed, b)
	for _, n := range []int64{st.Size, st.Mtim, st.Ctim} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return metadataHash{lower, maphash.Bytes(hashSeed, b)}, nil
}

// setTimes sets the times of what is open. The os package can do that only by
// name, so the name must still be that of the same file.
func (d *descriptor) setTimes(access, modification newTimestamp) error {
	if err := d.fs.changeable(); err != nil {
		return err
	}
	if err := d.stillThere(); err != nil {
		return err
	}
	return chtimes(d.fs.root, d.path, access, modification)
}

// stillThere fails if the descriptor's path is not its file's any more.
func (d *descriptor) stillThere() error {
	is, err := d.info()
	if err != nil {
		return err
	}
	there, err := d.fs.root.Stat(d.path)
	if err == nil && !os.SameFile(is, there) {
		err = codeNoEntry
	}
	return err
}

func (d *descriptor) setTimesAt(follow pathFlags, p string, access, modification newTimestamp) error {
	root, name, err := d.changeAt(p)
	if err != nil {
		return err
	}
	if err := notOfLink(root, name, follow); err != nil {
		return err
	}
	return chtimes(root, name, access, modification)
}

// notOfLink refuses what this package cannot do to a link itself.
func notOfLink(root *os.Root, name string, follow pathFlags) error {
	if follow&flagSymlinkFollow != 0 {
		return nil
	}
	info, err := root.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = codeUnsupported
	}
	return err
}

func chtimes(root *os.Root, name string, access, modification newTimestamp) error {
	a, err := access.time()
	if err != nil {
		return err
	}
	m, err := modification.time()
	if err != nil {
		return err
	}
	return root.Chtimes(name, a, m)
}

// maxSeconds is the latest time that fits 64 bits in nanoseconds.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

// time is the time to set; the zero time leaves a file's as it is.
func (t newTimestamp) time() (time.Time, error) {
	switch {
	case t.Now:
		return time.Now(), nil
	case t.Timestamp == nil:
		return time.Time{}, nil
	case t.Timestamp.Nanoseconds >= 1e9:
		return time.Time{}, codeInvalid
	case t.Timestamp.Seconds > maxSeconds:
		return time.Time{}, codeOverflow
	}
	return time.Unix(int64(t.Timestamp.Seconds), int64(t.Timestamp.Nanoseconds)), nil
}
