package containment

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// start starts what cmd describes in a sandbox.
func start(s *Sandbox, cmd *exec.Cmd, name string) (*Command, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	files := []uintptr{null.Fd(), null.Fd(), null.Fd()}
	for i, stream := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if f, ok := stream.(*os.File); ok && f != nil {
			files[i] = f.Fd()
		}
	}
	return s.Start(cmd.Path, cmd.Args, &syscall.ProcAttr{Dir: cmd.Dir, Env: cmd.Env, Files: files, Sys: cmd.SysProcAttr}, name)
}

// finish waits for a command and tells how it ended.
func finish(t testing.TB, c *Command) End {
	var ws syscall.WaitStatus
	var usage syscall.Rusage
	_, err := syscall.Wait4(c.PID(), &ws, 0, &usage)
	for err == syscall.EINTR {
		_, err = syscall.Wait4(c.PID(), &ws, 0, &usage)
	}
	require.NoError(t, err)
	return c.Finish(ws, time.Duration(usage.Utime.Nano()+usage.Stime.Nano()))
}

// runIn runs what cmd describes in a sandbox, to its end.
func runIn(t testing.TB, s *Sandbox, cmd *exec.Cmd, name string) End {
	c, err := start(s, cmd, name)
	require.NoError(t, err)
	return finish(t, c)
}
