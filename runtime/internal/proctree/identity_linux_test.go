package proctree

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestVerify(t *testing.T) {
	self, err := Capture(os.Getpid())
	require.NoError(t, err)
	change := func(f func(*Identity)) Identity {
		id := self
		f(&id)
		return id
	}
	for _, c := range []struct {
		name string
		id   Identity
		want Verdict
	}{
		{"itself", self, Owned},
		{"whatever its group", change(func(id *Identity) { id.PGID = 0 }), Owned},
		{"another start time", change(func(id *Identity) { id.StartTime++ }), Foreign},
		{"another group", change(func(id *Identity) { id.PGID++ }), Foreign},
		{"another boot", change(func(id *Identity) { id.BootID = "x" }), Gone},
		{"a pid that cannot be", change(func(id *Identity) { id.PID = 1 << 30 }), Gone},
		{"no start time", change(func(id *Identity) { id.StartTime = 0 }), Unverifiable},
		{"no boot", change(func(id *Identity) { id.BootID = "" }), Unverifiable},
		{"pid 0", change(func(id *Identity) { id.PID = 0 }), Unverifiable},
		{"pid 1", change(func(id *Identity) { id.PID = 1 }), Unverifiable},
		{"a group of processes", change(func(id *Identity) { id.PID = -id.PID }), Unverifiable},
		{"nothing", Identity{}, Unverifiable},
	} {
		assert.Equal(t, c.want, Verify(c.id), c.name)
	}
}

func TestVerifyInit(t *testing.T) {
	id, err := Capture(1)
	require.NoError(t, err)
	require.Equal(t, Unverifiable, Verify(id), "not even by its true identity")
	_, err = Open(id)
	require.ErrorAs(t, err, new(*VerdictError))
}

func TestVerifyDead(t *testing.T) {
	s := start(t, "exit 3")
	require.NoError(t, s.handle.Wait(context.Background()))
	require.Equal(t, Gone, Verify(s.Identity))
	s.end()
	require.Equal(t, Gone, Verify(s.Identity))
}

func TestCaptureRefuses(t *testing.T) {
	for _, pid := range []int{0, -1, 1 << 30} {
		_, err := Capture(pid)
		assert.Error(t, err, "pid %d", pid)
	}
}

func TestOpenRefusesAnother(t *testing.T) {
	s := start(t, "echo; read x < <(sleep 60)")
	s.line()
	id := s.Identity
	id.StartTime--
	_, err := Open(id)
	var v *VerdictError
	require.ErrorAs(t, err, &v)
	require.Equal(t, Foreign, v.Verdict)
	require.Equal(t, Owned, Verify(s.Identity))
	go s.Wait(context.Background())
}

func TestHandleWaitIsInterrupted(t *testing.T) {
	s := start(t, "echo; sleep 60")
	s.line()
	h, err := Open(s.Identity)
	require.NoError(t, err)
	defer h.Close()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- h.Wait(ctx) }()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.ErrorIs(t, h.Wait(ctx), context.Canceled)

	go func() { done <- h.Wait(context.Background()) }()
	require.NoError(t, h.Signal(unix.SIGKILL))
	require.NoError(t, <-done, "a wait after an interrupted one")
	require.NoError(t, h.Signal(unix.SIGKILL), "a process that is gone is no error")
	require.Equal(t, unix.SIGKILL, s.end().Status.Signal())
}
