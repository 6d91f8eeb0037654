package adapt

import (
	"bytes"
	"errors"
)

// mark is what stands before the pages that capsule/guest sets aside, followed
// by a byte with their number and then by them, with slack to align them.
const (
	mark  = "murmur:adapter-1"
	slack = 15
)

// A region is memory of the module: its first address, and the one after it.
type region struct{ start, end uint32 }

// reserved finds the pages, of which there must be one block, among what the
// module's memory holds at first.
func reserved(r *reader) (found region, err error) {
	for range r.u32() {
		flags, op, at, end := r.byte(), r.byte(), r.s32(), r.byte()
		content := r.bytes(r.u32())
		if r.err != nil {
			return region{}, r.err
		}
		if flags != 0 || op != opConst || end != opEnd {
			return region{}, errors.New("it has data at no fixed address")
		}
		_, rest, ok := bytes.Cut(content, []byte(mark))
		if !ok || len(rest) == 0 {
			continue
		}
		if found.end != 0 {
			return region{}, errors.New("it has memory for the adapter in two places")
		}
		start := at + uint32(len(content)-len(rest)) + 1
		found = region{start, start + uint32(rest[0])<<16 + slack}
	}
	return found, nil
}
