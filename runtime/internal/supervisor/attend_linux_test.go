package supervisor

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// A supervisor that a command has stopped neither holds up a call nor the end of
// a command.
func TestRunner_stoppedSupervisor(t *testing.T) {
	b := newBench(t)
	r := b.connect()
	p := b.start(r, "kill -STOP $PPID; echo went on")
	require.NoError(t, p.Demote(context.Background(), shell.Demotion{WorkID: ids.Work.New()}))
	await(t, "the end", p.Ended())
	assert.Equal(t, "went on\n", slurp(t, p.Output().StdoutPath))
	p.Settle()

	require.NoError(t, syscall.Kill(r.PID(), syscall.SIGSTOP))
	o, err := Dial(b.dir, nil)
	require.NoError(t, err)
	_, err = o.List(context.Background())
	require.NoError(t, err)
	require.NoError(t, o.Close())
}

func TestGoOn(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	pid := cmd.Process.Pid
	assert.False(t, goOn(pid), "it runs")
	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err = syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
	assert.True(t, goOn(pid))
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	assert.False(t, goOn(pid), "it is gone")
	for _, none := range []int{0, 1, -1, os.Getpid()} {
		assert.False(t, goOn(none))
	}
}
