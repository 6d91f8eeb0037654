package canon

import (
	"math"

	"github.com/tetratelabs/wazero/api"
)

// MemoryOf is a wazero memory as a Memory.
func MemoryOf(m api.Memory) Memory { return wazeroMemory{m} }

type wazeroMemory struct{ m api.Memory }

// View is the whole memory; of one of 4 GiB the last byte is out of reach, as
// its size does not fit the number that wazero tells it in.
func (w wazeroMemory) View() []byte {
	size := w.m.Size()
	if size == 0 {
		if pages, ok := w.m.Grow(0); ok && pages != 0 {
			size = math.MaxUint32
		}
	}
	view, _ := w.m.Read(0, size)
	return view
}
