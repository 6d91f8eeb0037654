//go:build unix && !linux

package shell

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func leadGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Both are called only while the runner has not seen the process end. Between
// its end and that, for an instant, the number may be nobody's.

func askGroup(cmd *exec.Cmd)  { syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
func killGroup(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

func exitCode(s *os.ProcessState) (code int, signal string) {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), unix.SignalName(ws.Signal())
	}
	return s.ExitCode(), ""
}
