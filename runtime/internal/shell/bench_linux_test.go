package shell

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkForeground runs a command by turns through os/exec and through the
// runner, so that whatever else the machine does weighs on both alike. Ratio is
// that of the medians.
func BenchmarkForeground(b *testing.B) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"true", []string{"true"}},
		{"echo", []string{"bash", "-c", "echo hi"}},
		{"pipe", []string{"bash", "-c", "echo hi | cat"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := NewInProcess(Options{})
			require.NoError(b, err)
			l := Launch{
				Path: "/usr/bin/" + c.args[0], Args: c.args, Env: os.Environ(),
				Dir: "/", OutDir: b.TempDir(), MaxOutput: 1 << 20, MaxRuntime: time.Hour,
			}
			n := 0
			compare(b, func() {
				_, err := exec.Command(l.Path, l.Args[1:]...).CombinedOutput()
				require.NoError(b, err)
			}, func() {
				n++
				l.Name = "c" + strconv.Itoa(n)
				p, err := r.Start(context.Background(), l)
				require.NoError(b, err)
				<-p.Ended()
				require.Zero(b, p.Exit().Code)
				require.NoError(b, p.Output().Remove())
			})
		})
	}
}

// compare runs both by turns and reports the medians.
func compare(b *testing.B, rival, ours func()) {
	var times [2][]time.Duration
	for b.Loop() {
		for i, run := range []func(){rival, ours} {
			start := time.Now()
			run()
			times[i] = append(times[i], time.Since(start))
		}
	}
	var median [2]float64
	for i := range times {
		slices.Sort(times[i])
		median[i] = float64(times[i][len(times[i])/2].Microseconds())
	}
	b.ReportMetric(median[0], "rival-µs")
	b.ReportMetric(median[1], "ours-µs")
	b.ReportMetric(median[1]/median[0], "ratio")
}
