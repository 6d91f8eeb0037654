package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// smallDisk is a bench whose session lies on a file system of half a megabyte.
// It needs root: the rest of the suite does not, so a run without says so.
func smallDisk(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	err := unix.Mount("tmpfs", b.dir, "tmpfs", 0, "size=512k")
	require.NoError(t, err, "this test mounts a tmpfs, which takes root (CAP_SYS_ADMIN): run it as root")
	t.Cleanup(func() {
		b.waitLeft()
		require.NoError(t, unix.Unmount(b.dir, unix.MNT_DETACH))
	})
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "out"), 0o700))
	return b
}

// fill leaves no room on the disk. What it returns makes room again.
func (b *bench) fill() (free func()) {
	b.t.Helper()
	path := filepath.Join(b.dir, "ballast")
	f, err := os.Create(path)
	require.NoError(b.t, err)
	for _, size := range []int{64 << 10, 4 << 10} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		require.ErrorIs(b.t, err, unix.ENOSPC)
	}
	require.NoError(b.t, f.Close())
	return func() { require.NoError(b.t, os.Remove(path)) }
}

// Nothing is promised that cannot be accounted for: what cannot be recorded is
// ended.
func TestFull_NoDemotionWithoutARecord(t *testing.T) {
	b := smallDisk(t)
	r := b.connect()
	p := b.start(r, "sleep 81")
	free := b.fill()
	err := p.Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()})
	require.ErrorIs(t, err, unix.ENOSPC)
	await(t, "the end", p.Ended())
	assert.Equal(t, shell.ReasonKilled, p.Exit().Reason)
	assert.Empty(t, p.Exit().Survivors)
	free()
	assert.Empty(t, b.records(r))
	await(t, "the end", b.start(r, "true").Ended())
}

// The room for an exit record is kept from the demotion on.
func TestFull_TheExitRecordHasItsRoom(t *testing.T) {
	b := smallDisk(t)
	r := b.connect()
	g := b.gate("go")
	p := b.start(r, "read x < go; exit 9")
	require.NoError(t, p.Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()}))
	free := b.fill()
	g.open()
	await(t, "the end", p.Ended())

	// The record grows by less than the exit record gives back.
	assert.Equal(t, 9, b.records(r)[0].Outcome.ExitCode)
	free()
}

// A runtime that dies with the disk full costs nothing either.
func TestFull_AnOrphanWaitsForRoom(t *testing.T) {
	b := smallDisk(t)
	r := b.connect()
	g := b.gate("go")
	b.start(r, "read x < go; exit 6")
	free := b.fill()
	require.NoError(t, r.Close())
	assert.True(t, Alive(b.dir))
	free()
	g.open()
	b.waitLeft()
	records := b.records(nil)
	require.Len(t, records, 1)
	assert.Equal(t, 6, records[0].Outcome.ExitCode)
}

// Output beyond the disk is dropped and said to be; the command goes on.
func TestFull_TheOutput(t *testing.T) {
	b := smallDisk(t)
	r := b.connect()
	p := b.start(r, "head -c 900000 /dev/zero; exit 2")
	await(t, "the end", p.Ended())
	assert.Equal(t, 2, p.Exit().Code)
	assert.True(t, p.Output().Truncated)
	assert.EqualValues(t, 900_000, p.Output().StdoutBytes)
	p.Settle()
}

// A launch that cannot be written down does not run.
func TestFull_NoLaunchWithoutAJournal(t *testing.T) {
	b := smallDisk(t)
	r := b.connect()
	free := b.fill()
	ran := filepath.Join(b.o.Session.Workdir, "ran")
	refused := 0
	for range 40 { // The journal may have some room left in its last block.
		l := b.launch("echo x >> ran")
		p, err := r.Start(t.Context(), l)
		if err != nil {
			refused++
			continue
		}
		<-p.Ended()
	}
	free()
	assert.NotZero(t, refused)
	assert.Len(t, lines(t, ran), 40-refused)
}
