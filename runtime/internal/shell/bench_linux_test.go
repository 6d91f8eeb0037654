package shell

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
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
			compare(b, func() {
				_, err := exec.Command(l.Path, l.Args[1:]...).CombinedOutput()
				require.NoError(b, err)
			}, func() {
				l.Name = newName()
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

// BenchmarkCapture runs a command that writes 2 GiB, against the same command
// with its output thrown away and with its output redirected to a file. Grown is
// by how much this process's memory went up meanwhile.
func BenchmarkCapture(b *testing.B) {
	const size = 2 << 30
	dir := b.TempDir()
	write := "head -c " + strconv.Itoa(size) + " /dev/zero"
	r, err := NewInProcess(Options{})
	require.NoError(b, err)
	var ours, null, file time.Duration
	before := resident(b)
	var grown int64
	for b.Loop() {
		ours += timed(func() {
			p, err := r.Start(context.Background(), Launch{
				Path: "/bin/sh", Args: []string{"sh", "-c", write}, Env: os.Environ(), Dir: dir,
				OutDir: dir, Name: newName(), MaxOutput: 2 * size,
			})
			require.NoError(b, err)
			<-p.Ended()
			require.Equal(b, int64(size), p.Output().StdoutBytes)
			grown = max(grown, resident(b)-before)
			require.NoError(b, p.Output().Remove())
		})
		null += timed(func() { require.NoError(b, exec.Command("sh", "-c", write+" | cat >/dev/null").Run()) })
		file += timed(func() {
			require.NoError(b, exec.Command("sh", "-c", write+" >"+dir+"/f").Run())
			require.NoError(b, os.Remove(dir+"/f"))
		})
	}
	n := float64(b.N)
	b.ReportMetric(ours.Seconds()/n, "ours-s")
	b.ReportMetric(null.Seconds()/n, "null-s")
	b.ReportMetric(file.Seconds()/n, "file-s")
	b.ReportMetric(ours.Seconds()/file.Seconds(), "of-file")
	b.ReportMetric(float64(grown)/(1<<20), "grown-MiB")
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

// resident is this process's memory, in bytes.
func resident(b *testing.B) int64 {
	b.Helper()
	raw, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	pages, err := strconv.ParseInt(strings.Fields(string(raw))[1], 10, 64)
	require.NoError(b, err)
	return pages * int64(os.Getpagesize())
}

// BenchmarkOutstanding tells what a command that runs costs this process.
func BenchmarkOutstanding(b *testing.B) {
	const n = 500
	r, err := NewInProcess(Options{MaxRunning: n})
	require.NoError(b, err)
	dir := b.TempDir()
	for b.Loop() {
		before := used()
		var all [n]Process
		for i := range all {
			all[i], err = r.Start(context.Background(), Launch{
				Path: "/bin/sleep", Args: []string{"sleep", "600"}, Env: os.Environ(), Dir: "/",
				OutDir: dir, Name: newName(), MaxOutput: 1 << 20, MaxRuntime: time.Hour,
			})
			require.NoError(b, err)
		}
		b.ReportMetric(float64(used()-before)/n, "B/command")
		var stops sync.WaitGroup
		for _, p := range all {
			stops.Go(func() { p.Stop(context.Background(), ReasonKilled) })
		}
		stops.Wait()
	}
}

// used is the memory that is in use, heap and stacks.
func used() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
