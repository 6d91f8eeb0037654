package canon

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// The NaNs that every other NaN becomes on the way, so that no guest can learn,
// or smuggle, its bits.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

type float32Codec struct{}

func (float32Codec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*uint32)(dst) = quiet32(binary.LittleEndian.Uint32(c.mem[p:]))
	return nil
}

func (float32Codec) store(c *Call, p uint32, src unsafe.Pointer) error {
	binary.LittleEndian.PutUint32(c.mem[p:], quiet32(*(*uint32)(src)))
	return nil
}

func (float32Codec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*uint32)(dst) = quiet32(uint32(lanes[0]))
	return nil
}

func (float32Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = uint64(quiet32(*(*uint32)(src)))
	return nil
}

type float64Codec struct{}

func (float64Codec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	*(*uint64)(dst) = quiet64(binary.LittleEndian.Uint64(c.mem[p:]))
	return nil
}

func (float64Codec) store(c *Call, p uint32, src unsafe.Pointer) error {
	binary.LittleEndian.PutUint64(c.mem[p:], quiet64(*(*uint64)(src)))
	return nil
}

func (float64Codec) lift(_ *Call, lanes []uint64, dst unsafe.Pointer) error {
	*(*uint64)(dst) = quiet64(lanes[0])
	return nil
}

func (float64Codec) lower(_ *Call, lanes []uint64, src unsafe.Pointer) error {
	lanes[0] = quiet64(*(*uint64)(src))
	return nil
}

// quiet32 is the bits of a float32 with any NaN made the canonical one.
func quiet32(bits uint32) uint32 {
	if f := math.Float32frombits(bits); f != f {
		return nan32
	}
	return bits
}

// quiet64 is the bits of a float64 with any NaN made the canonical one.
func quiet64(bits uint64) uint64 {
	if f := math.Float64frombits(bits); f != f {
		return nan64
	}
	return bits
}
