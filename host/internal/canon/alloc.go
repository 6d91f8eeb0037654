package canon

import (
	"reflect"
	"unsafe"
)

// An allocator makes n zero values in a row, of a type fixed when it was made,
// in memory that the collector knows the type of.
type allocator func(n int) unsafe.Pointer

// fewElements is up to where an array type for each length is made in advance:
// an array is one allocation, reflect's slices are two.
const fewElements = 8

// allocatorOf is the allocator of values of type g. What Go has no name for at
// compile time can be had from reflect alone; that is the one use of it that
// calls make, and only for values that hold pointers.
func allocatorOf(g reflect.Type) allocator {
	switch {
	case g.Kind() == reflect.String:
		return func(n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]string, n))) }
	case g == valueType:
		return func(n int) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(make([]Value, n))) }
	case !holdsPointers(g):
		return plainAllocator(g)
	}
	var few [fewElements + 1]reflect.Type
	for n := range few {
		few[n] = reflect.ArrayOf(n, g)
	}
	slice := reflect.SliceOf(g)
	return func(n int) unsafe.Pointer {
		if n < len(few) {
			return reflect.New(few[n]).UnsafePointer()
		}
		return reflect.MakeSlice(slice, n, n).UnsafePointer()
	}
}

// plainAllocator makes values without pointers, of which the collector needs to
// know only the size.
func plainAllocator(g reflect.Type) allocator {
	size := g.Size()
	if g.Align() == 1 {
		return func(n int) unsafe.Pointer {
			return unsafe.Pointer(unsafe.SliceData(make([]byte, uintptr(n)*size)))
		}
	}
	return func(n int) unsafe.Pointer {
		return unsafe.Pointer(unsafe.SliceData(make([]uint64, (uintptr(n)*size+7)/8)))
	}
}

func holdsPointers(g reflect.Type) bool {
	switch g.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return false
	case reflect.Array:
		return holdsPointers(g.Elem())
	case reflect.Struct:
		for i := range g.NumField() {
			if holdsPointers(g.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return true
	}
}

// A box makes the values that pointers point to.
type box struct {
	alloc allocator
	size  uint64
}

func boxOf(g reflect.Type) box {
	// What the allocator rounds up to is spent too: a guest can ask for many
	// small ones.
	return box{allocatorOf(g), uint64(g.Size()) + 16}
}

// fill makes the pointer at dst point to a zero value, and returns it.
func (b box) fill(c *Call, dst unsafe.Pointer) (unsafe.Pointer, error) {
	if err := c.spend(b.size); err != nil {
		return nil, err
	}
	to := b.alloc(1)
	*(*unsafe.Pointer)(dst) = to
	return to, nil
}
