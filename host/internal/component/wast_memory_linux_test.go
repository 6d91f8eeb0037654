package component

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// lazyMemory gives guests address space instead of memory: scripts grow
// memories to 4 GiB and never touch most of it.
type lazyMemory struct{ space []byte }

func withLazyMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(
		func(_, most uint64) experimental.LinearMemory {
			space, err := syscall.Mmap(-1, 0, int(most), syscall.PROT_READ|syscall.PROT_WRITE,
				syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
			if err != nil {
				panic(err)
			}
			return &lazyMemory{space}
		}))
}

// Reallocate implements experimental.LinearMemory.
func (m *lazyMemory) Reallocate(size uint64) []byte { return m.space[:size] }

// Free implements experimental.LinearMemory.
func (m *lazyMemory) Free() { _ = syscall.Munmap(m.space) }
