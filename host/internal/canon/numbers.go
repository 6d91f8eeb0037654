package canon

import (
	"encoding/binary"
	"math"
)

// Guest memory is little-endian. Where Go's is too, lists of numbers are copied
// whole.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// isBulk tells whether a list of numbers of kind k in Go is, byte for byte, what
// it is in guest memory.
func isBulk(k Kind) bool {
	return isNumber(k) && (littleEndian || scalarSize(k) == 1)
}

// isNumber tells whether every pattern of bits is a value of kind k, NaNs aside.
func isNumber(k Kind) bool { return k >= KindS8 && k <= KindF64 }

// quietImage makes every NaN in an image of numbers of kind k the canonical one.
func quietImage(k Kind, image []byte) {
	switch k {
	case KindF32:
		for ; len(image) >= 4; image = image[4:] {
			if f := math.Float32frombits(binary.LittleEndian.Uint32(image)); f != f {
				binary.LittleEndian.PutUint32(image, nan32)
			}
		}
	case KindF64:
		for ; len(image) >= 8; image = image[8:] {
			if f := math.Float64frombits(binary.LittleEndian.Uint64(image)); f != f {
				binary.LittleEndian.PutUint64(image, nan64)
			}
		}
	}
}
