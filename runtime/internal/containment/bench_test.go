//go:build linux

package containment

import (
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkTrue starts true and waits for it: plainly, and under each class. One
// run compares them.
func BenchmarkTrue(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, exec.Command("/bin/true").Run())
		}
	})
	host := Probe(true)
	for _, class := range []Class{Advisory, Scoped, Sealed} {
		b.Run(string(class), func(b *testing.B) {
			dir := b.TempDir()
			p, err := Plan(Ask{Class: class}, host, Facts{Workdir: dir})
			require.NoError(b, err)
			s, err := Open(p)
			require.NoError(b, err)
			defer s.Close()
			for n := 0; b.Loop(); n++ {
				cmd := exec.Command("/bin/true")
				cmd.Dir = dir
				c, err := s.Start(cmd, "bench-"+strconv.Itoa(n))
				require.NoError(b, err)
				require.NoError(b, cmd.Wait())
				require.Zero(b, c.Finish(cmd.ProcessState.Sys().(syscall.WaitStatus), 0).Code)
			}
		})
	}
}
