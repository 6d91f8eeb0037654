//go:build linux

package containment

import (
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A starter starts true in one way and waits for it.
type starter struct {
	name string
	run  func(n int)
	took []time.Duration
}

// median of what it took, which a busy machine moves less than the mean.
func (s *starter) median() float64 {
	slices.Sort(s.took)
	return float64(s.took[len(s.took)/2])
}

// BenchmarkTrue starts true plainly and under each class, in turn, so that a
// busy machine is busy for all. It reports the plain start in microseconds and
// the others as multiples of it. The last one is sealed where the session cannot
// keep its namespaces.
func BenchmarkTrue(b *testing.B) {
	host := Probe(true)
	ungrouped := Probe(true)
	withoutGroups(&ungrouped)
	starters := []*starter{
		{name: "plain", run: func(int) { require.NoError(b, exec.Command("/bin/true").Run()) }},
		contained(b, "advisory", Advisory, host),
		contained(b, "scoped", Scoped, host),
		contained(b, "sealed", Sealed, host),
		contained(b, "sealed-alone", Sealed, ungrouped),
	}
	n := 0
	for b.Loop() {
		for _, s := range starters {
			n++
			start := time.Now()
			s.run(n)
			s.took = append(s.took, time.Since(start))
		}
	}
	plain := starters[0].median()
	b.ReportMetric(plain/1000, "plain-us")
	for _, s := range starters[1:] {
		b.ReportMetric(s.median()/plain, s.name+"-x")
	}
}

func contained(b *testing.B, name string, class Class, h Host) *starter {
	dir := b.TempDir()
	p, err := Plan(Ask{Class: class}, h, Facts{Workdir: dir})
	require.NoError(b, err)
	s, err := Open(p)
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.Close() })
	return &starter{name: name, run: func(n int) {
		cmd := exec.Command("/bin/true")
		cmd.Dir = dir
		require.Zero(b, runIn(b, s, cmd, "bench-"+strconv.Itoa(n)).Code)
	}}
}
