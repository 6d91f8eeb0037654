//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
)

// A process is a murmur of its own.
type process struct {
	*testing.T
	cmd     *exec.Cmd
	stdout  io.ReadCloser
	errors  *bufio.Scanner
	said    strings.Builder // standard error so far
	workdir string
}

// startRun starts murmur run with the runner.
func startRun(t *testing.T, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	home, workdir := t.TempDir(), t.TempDir()
	cache := filepath.Join(home, "cache")
	require.NoError(t, shareCache(fixtures.RuntimeCache(t), cache))
	p := &process{T: t, workdir: workdir, cmd: exec.Command(self)}
	// The test binary is murmur if it is called so.
	p.cmd.Args = append([]string{"murmur", "run", fixtures.Dir(t, "runner"), "--survives=false", "--workdir", workdir}, args...)
	p.cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+cache)
	p.stdout, err = p.cmd.StdoutPipe()
	require.NoError(t, err)
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	p.errors = bufio.NewScanner(stderr)
	require.NoError(t, p.cmd.Start())
	killed := time.AfterFunc(2*time.Minute, func() { _ = p.cmd.Process.Kill() })
	t.Cleanup(func() {
		killed.Stop()
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	return p
}

// await reads standard error up to a line that holds text.
func (p *process) await(text string) {
	p.Helper()
	for p.errors.Scan() {
		p.said.WriteString(p.errors.Text() + "\n")
		if strings.Contains(p.errors.Text(), text) {
			return
		}
	}
	require.Fail(p, "murmur did not say "+text, p.said.String())
}

func (p *process) signal(s os.Signal) {
	p.Helper()
	require.NoError(p, p.cmd.Process.Signal(s))
}

// exit waits for the end and returns the exit code.
func (p *process) exit() int {
	p.Helper()
	for p.errors.Scan() {
		p.said.WriteString(p.errors.Text() + "\n")
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// letGo lets a command go on that waits for it.
func (p *process) letGo() {
	p.Helper()
	require.NoError(p, os.WriteFile(filepath.Join(p.workdir, "go"), nil, 0o600))
}

// started waits until the command of held runs.
func (p *process) started() {
	p.Helper()
	require.Eventually(p, func() bool {
		_, err := os.Stat(filepath.Join(p.workdir, "started"))
		return err == nil
	}, time.Minute, 5*time.Millisecond)
}

// held is a command that tells that it runs, and ends when it is let go or the
// test is over.
const held = "touch started; until [ -e go ] || ! [ -e started ]; do sleep .01; done; echo through"

func TestSignal_OneInterruptEndsAfterTheCurrentTask(t *testing.T) {
	p := startRun(t, "--task", held, "--task", "echo never", "--queue-depth", "5", "--grace", "1m")
	p.started()
	p.signal(os.Interrupt)
	p.await("ending after the current task")
	p.letGo()
	out, err := io.ReadAll(p.stdout)
	require.NoError(t, err)
	assert.Equal(t, exitEnded, p.exit())
	assert.Contains(t, string(out), "through", "the current task has had its time")
	assert.NotContains(t, string(out), "never")
	assert.Contains(t, p.said.String(), "session end")
}

func TestSignal_TwoInterruptsEndAtOnceAndKillNothing(t *testing.T) {
	p := startRun(t, "--task", held, "--grace", "1m")
	p.started()
	p.signal(os.Interrupt)
	p.await("ending after the current task")
	p.signal(os.Interrupt)
	p.await("ending at once")
	assert.Equal(t, exitEnded, p.exit())
	assert.Contains(t, p.said.String(), "1 background shell command discarded at session end.")
	assert.Contains(t, p.said.String(), "state: still running after")
	p.letGo()
}

func TestSignal_AHangupOrAManagersWordEndsInOrder(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		p := startRun(t, "--task", held, "--grace", "0s")
		p.started()
		p.signal(s)
		assert.Equal(t, exitEnded, p.exit())
		assert.Contains(t, p.said.String(), "discarded at session end")
		assert.Contains(t, p.said.String(), "session end")
		p.letGo()
	}
}

func TestSignal_AReaderThatGoesAwayEndsTheSessionInOrder(t *testing.T) {
	p := startRun(t, "--task", "echo one", "--json")
	require.NoError(t, p.stdout.Close())
	assert.Equal(t, exitEnded, p.exit())
	assert.Contains(t, p.said.String(), "nobody reads the results")
	assert.Contains(t, p.said.String(), "session end")
}
