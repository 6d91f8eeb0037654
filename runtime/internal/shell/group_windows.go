package shell

import (
	"os"
	"os/exec"
)

func leadGroup(cmd *exec.Cmd) {}
func askGroup(cmd *exec.Cmd)  { cmd.Process.Kill() }
func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }

func exitCode(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }
