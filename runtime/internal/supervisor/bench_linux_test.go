package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

func BenchmarkCommand(b *testing.B) {
	commands := []struct {
		name string
		path string
		args []string
	}{
		{"true", "/bin/true", []string{"true"}},
		{"bash", "/bin/bash", []string{"bash", "-c", "echo hi"}},
	}
	for _, c := range commands {
		b.Run(c.name+"/CombinedOutput", func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command(c.path, c.args[1:]...)
				cmd.Env = []string{"PATH=/usr/bin:/bin"}
				_, err := cmd.CombinedOutput()
				require.NoError(b, err)
			}
		})
		b.Run(c.name+"/supervised", func(b *testing.B) {
			bn := newBench(b)
			r := bn.connect()
			for b.Loop() {
				l := bn.launch("")
				l.Path, l.Args = c.path, c.args
				p, err := r.Start(b.Context(), l)
				require.NoError(b, err)
				<-p.Ended()
				require.Zero(b, p.Exit().Code)
				_ = p.Output().Remove()
				p.(shell.Durable).Settle()
			}
		})
	}
}

func BenchmarkDemotion(b *testing.B) {
	bn := newBench(b)
	r := bn.connect()
	for b.Loop() {
		b.StopTimer()
		p := bn.start(r, "exec sleep 600")
		b.StartTimer()
		require.NoError(b, p.Demote(b.Context(), shell.Demotion{WorkID: ids.Work.New()}))
		b.StopTimer()
		require.NoError(b, p.Stop(b.Context(), shell.ReasonKilled))
		b.StartTimer()
	}
}

// The end of a demoted command: from the last thing that it does to the moment
// at which its exit record is on disk and the runtime knows.
func BenchmarkEnd(b *testing.B) {
	bn := newBench(b)
	r := bn.connect()
	g := bn.gate("go")
	for b.Loop() {
		b.StopTimer()
		p := bn.start(r, "read x < go")
		require.NoError(b, p.Demote(b.Context(), shell.Demotion{WorkID: ids.Work.New()}))
		b.StartTimer()
		g.open()
		<-p.Ended()
	}
}

func BenchmarkStartUp(b *testing.B) {
	bn := newBench(b)
	for b.Loop() {
		r, err := Connect(b.Context(), bn.o)
		require.NoError(b, err)
		b.StopTimer()
		b.ReportMetric(memory(b, r.PID(), "Rss")/1024, "rss-MiB")
		b.ReportMetric(memory(b, r.PID(), "Pss")/1024, "pss-MiB")
		require.NoError(b, r.Close())
		bn.waitLeft()
		b.StartTimer()
	}
}

func BenchmarkOutstanding1000(b *testing.B) {
	for b.Loop() {
		bn := newBench(b)
		r := bn.connect()
		before := memory(b, r.PID(), "Rss")
		var procs []shell.Durable
		for range 1000 {
			procs = append(procs, bn.start(r, "exec sleep 600"))
		}
		b.ReportMetric((memory(b, r.PID(), "Rss")-before)/1000, "KiB/command")
		b.ReportMetric(memory(b, r.PID(), "Rss")/1024, "rss-MiB")
		for _, p := range procs {
			go func() { _ = p.Stop(context.Background(), shell.ReasonKilled) }()
		}
		for _, p := range procs {
			<-p.Ended()
			p.Settle()
		}
		require.NoError(b, r.Close())
		bn.waitLeft()
	}
}

// memory is a line of the process's smaps_rollup, in KiB.
func memory(t testing.TB, pid int, field string) float64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", itoa(pid), "smaps_rollup"))
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		var n float64
		if rest, ok := strings.CutPrefix(string(line), field+":"); ok {
			_, err := fmt.Sscan(rest, &n)
			require.NoError(t, err)
			return n
		}
	}
	t.Fatalf("no %s of process %d", field, pid)
	return 0
}
