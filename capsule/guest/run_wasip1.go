//go:build wasip1

package guest

import (
	"runtime"
	"structs"
	"unsafe"

	"github.com/murmur-capsule/murmur/capsule/guest/internal/cabi"
)

// toolRun takes the two fields of tool-input, each as (is it there, address,
// length), and the address where the host writes the tool-result.
//
// It is not marked noescape: while it runs the host calls realloc, which may
// move the goroutine's stack, so what it points to must be on the heap.
//
//go:wasmimport murmur:tool/run@0.1.0 run
func toolRun(hasData uint32, data unsafe.Pointer, dataLen uint32,
	hasLog uint32, log unsafe.Pointer, logLen uint32, ret *toolResult)

// optionString is option<string> in memory.
type optionString struct {
	_    structs.HostLayout
	some uint8
	ptr  uint32
	len  uint32
}

func (o optionString) lift() string {
	if o.some == 0 {
		return ""
	}
	return cabi.String(o.ptr, o.len)
}

// toolResult is tool-result in memory: 52 bytes, aligned to 4.
type toolResult struct {
	_           structs.HostLayout
	status      uint8
	summary     optionString
	data        optionString
	dataPath    optionString
	truncated   uint8
	metadata    uint32
	metadataLen uint32
}

// pair is tuple<string, string> in memory.
type pair struct {
	_                            structs.HostLayout
	key, keyLen, value, valueLen uint32
}

func (r *toolResult) lift() Result {
	return Result{
		Status:    Status(r.status),
		Summary:   r.summary.lift(),
		Data:      r.data.lift(),
		DataPath:  r.dataPath.lift(),
		Truncated: r.truncated != 0,
		Metadata:  liftPairs(r.metadata, r.metadataLen),
	}
}

func liftPairs(p, n uint32) []Pair {
	if n == 0 {
		return nil
	}
	raw := unsafe.Slice((*pair)(cabi.Pointer(p)), n)
	pairs := make([]Pair, n)
	for i, r := range raw {
		pairs[i] = Pair{cabi.String(r.key, r.keyLen), cabi.String(r.value, r.valueLen)}
	}
	return pairs
}

// lower returns an optional string as the three flat values of its type.
func lower(s *string) (some uint32, p unsafe.Pointer, n uint32) {
	if s == nil {
		return 0, nil, 0
	}
	return 1, unsafe.Pointer(unsafe.StringData(*s)), uint32(len(*s))
}

func call(in Input) Result {
	ret := new(toolResult)
	hasData, data, dataLen := lower(in.Data)
	hasLog, log, logLen := lower(in.LogPath)
	cabi.Begin()
	toolRun(hasData, data, dataLen, hasLog, log, logLen, ret)
	arena := cabi.Take()
	runtime.KeepAlive(in)
	result := ret.lift()
	arena.Release()
	return result
}
