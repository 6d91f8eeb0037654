package host

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinearMemory(t *testing.T) {
	for name, mapped := range map[string]bool{"mapped": true, "of the heap": false} {
		t.Run(name, func(t *testing.T) {
			all := &memories{limit: 3 * pageSize}
			m := all.Allocate(0, 10*pageSize).(*linearMemory)
			if !mapped && m.mapping != nil {
				unmapMemory(m.mapping)
				m.mapping = nil
			}
			b := m.Reallocate(pageSize)
			require.Len(t, b, pageSize)
			b[0], b[pageSize-1] = 1, 2
			for _, pages := range []uint64{2, 3} {
				b = m.Reallocate(pages * pageSize)
				require.Len(t, b, int(pages*pageSize))
				assert.Equal(t, []byte{1, 2, 0}, []byte{b[0], b[pageSize-1], b[pageSize]})
			}
			assert.False(t, all.full)
			assert.Nil(t, m.Reallocate(4*pageSize))
			assert.True(t, all.full)
			assert.Len(t, m.View(), 3*pageSize, "what there was remains")
			m.Free()
			assert.Len(t, m.View(), 3*pageSize)
			all.release()
			assert.Nil(t, m.View())
			all.release()
		})
	}
}

// The memories of an instance have one limit together.
func TestMemoriesShareTheirLimit(t *testing.T) {
	all := &memories{limit: 3 * pageSize}
	defer all.release()
	a, b := all.Allocate(0, 4*pageSize), all.Allocate(0, 4*pageSize)
	require.NotNil(t, a.Reallocate(pageSize))
	require.NotNil(t, b.Reallocate(2*pageSize))
	assert.Zero(t, all.reached())
	assert.Nil(t, a.Reallocate(2*pageSize))
	assert.Equal(t, uint64(3*pageSize), all.reached())
	require.NotNil(t, b.Reallocate(2*pageSize), "what there is stays")
}

func TestMemoryLimit(t *testing.T) {
	grow := handler(echo...)
	grow.def("grow", "i:i", 0, 0x20, 0, 0x40, 0)
	tests := []struct {
		limit uint64
		by    uint64
		want  int32
	}{
		{0, 8191, 1}, {0, 8192, -1}, // 512 MiB
		{2 * pageSize, 1, 1}, {2*pageSize + pageSize - 1, 2, -1}, {1 << 40, 65535, 1},
	}
	for _, tt := range tests {
		i := instantiate(t, load(t, grow.bytes(), LoadOptions{MemoryLimit: tt.limit}), InstanceConfig{})
		out, err := core(context.Background(), i, "grow", tt.by)
		require.NoError(t, err)
		assert.Equal(t, tt.want, int32(out[0]), "%d pages more, of %d bytes", tt.by, tt.limit)
	}
}

// TestMemoryThatGrowsUnderACall: what the guest gets after it has grown lies in
// the memory that it has then.
func TestMemoryThatGrowsUnderACall(t *testing.T) {
	m := &module{pages: []byte{0, 1}}
	// Each block is on a page of its own: the old number of pages, times 64 KiB.
	m.def(reallocExport, reallocSig, 1, 0x41, 1, 0x40, 0, 0x41, 16, 0x74)
	m.def(handleExport, handleSig, 2, echo...)
	i := instantiate(t, load(t, m.bytes(), LoadOptions{}), InstanceConfig{})
	text, _, err := i.Handle(context.Background(), Task{ID: "a", ContextID: "b", Message: "far away"})
	require.NoError(t, err)
	assert.Equal(t, "far away", text)
	assert.Len(t, i.memory.all[0].View(), 4*pageSize)
}
