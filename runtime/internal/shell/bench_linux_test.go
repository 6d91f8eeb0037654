package shell

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

var benchCommands = []struct {
	name string
	args []string
}{
	{"true", []string{"true"}},
	{"echo", []string{"bash", "-c", "echo hi"}},
	{"pipe", []string{"bash", "-c", "echo hi | cat"}},
}

func BenchmarkCombinedOutput(b *testing.B) {
	for _, c := range benchCommands {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				_, err := exec.Command("/usr/bin/"+c.args[0], c.args[1:]...).CombinedOutput()
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkInProcess(b *testing.B) {
	for _, c := range benchCommands {
		b.Run(c.name, func(b *testing.B) {
			r, err := NewInProcess(Options{})
			require.NoError(b, err)
			l := Launch{Path: "/usr/bin/" + c.args[0], Args: c.args, Env: os.Environ(), Dir: "/", OutDir: b.TempDir(), MaxOutput: 1 << 20}
			i := 0
			for b.Loop() {
				i++
				l.Name = fmt.Sprint("c", i)
				p, err := r.Start(context.Background(), l)
				require.NoError(b, err)
				<-p.Ended()
				if p.Exit().Code != 0 {
					b.Fatal(p.Exit())
				}
				p.Output().Remove()
			}
		})
	}
}
