//go:build soak

package runtime

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// soakCommands is how many commands a soak runs.
const soakCommands = 2000

// TestSoak runs commands of random lengths while runtimes and supervisors are
// killed at random. In the end the account closes: no command ran twice, and
// each that ran was told of.
func TestSoak(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	t.Cleanup(func() { killSupervisors(t, dir) })
	kills := 0
	for left := soakCommands; left > 0; left = soakCommands - lineCount(t, work, "asked") {
		t.Logf("%d commands to go after %d kills", left, kills)
		c := soakVictim(t, dir, left)
		require.NoError(t, c.Start())
		timer := time.AfterFunc(time.Duration(200+rand.IntN(3000))*time.Millisecond, func() {
			if rand.IntN(2) == 0 {
				killSupervisors(t, dir)
			}
			_ = c.Process.Signal(syscall.SIGKILL)
		})
		_ = c.Wait()
		timer.Stop()
		kills++
	}
	require.NoError(t, soakVictim(t, dir, 0).Run())
	closeAccount(t, work)
	assertWhole(t, dir)
}

func soakVictim(t *testing.T, dir string, commands int) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), victimEnv+"=soak", "VICTIM_DIR="+dir, "VICTIM_COMMANDS="+strconv.Itoa(commands))
	c.Stderr = os.Stderr
	return c
}

func readLines(t *testing.T, work, name string) []string {
	data, err := os.ReadFile(filepath.Join(work, name))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Fields(string(data))
}

func lineCount(t *testing.T, work, name string) int { return len(readLines(t, work, name)) }

// closeAccount compares what ran with what was told.
func closeAccount(t *testing.T, work string) {
	ran := map[string]int{}
	for _, id := range readLines(t, work, "runs") {
		ran[id]++
		assert.Equal(t, 1, ran[id], "%s ran once", id)
	}
	told := map[string]bool{}
	for _, id := range readLines(t, work, "told") {
		told[id] = true
	}
	for id := range ran {
		assert.True(t, told[id], "%s was told of", id)
	}
	t.Logf("%d commands ran, %d were told of", len(ran), len(told))
}
