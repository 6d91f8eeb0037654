package runtime

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// runners are the two ways in which a session's commands are started.
var runners = []struct {
	name string
	edit func(*capsule.Manifest)
}{
	{"in-process", inProcess},
	{"supervised", func(*capsule.Manifest) {}},
}

// benchCapsule loads the runner, uncontained: what is measured is our own way.
func benchCapsule(b *testing.B, edit ...func(*capsule.Manifest)) (*Runtime, *Capsule) {
	rt, err := New(Options{StateDir: filepath.Join(b.TempDir(), "state"), CacheDir: fixtures.RuntimeCache(b), Log: io.Discard})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, rt.Close()) })
	m, err := capsule.Load(fixtures.Dir(b, "runner"))
	require.NoError(b, err)
	for _, f := range edit {
		f(m)
	}
	c, err := rt.Load(b.Context(), m)
	require.NoError(b, err)
	return rt, c
}

// BenchmarkCommand runs a command through the guest, and beside it the same
// command by os/exec alone.
func BenchmarkCommand(b *testing.B) {
	for _, cmd := range []struct{ name, request, script string }{
		{"true", `{"binary":"bash","args":["-c",":"]}`, ":"},
		{"echo", "echo hi", "echo hi"},
	} {
		for _, way := range runners {
			b.Run(cmd.name+"/"+way.name, func(b *testing.B) {
				rt, c := benchCapsule(b, way.edit)
				var ours, rival []time.Duration
				measure := scripted(func(s *Session, t *task) outcome {
					guest := &handlerWorker{s: s}
					defer guest.close()
					guest.run(t.ctx, t)
					for range b.N {
						rival = append(rival, timed(func() { combinedOutput(b, cmd.script) }))
						ours = append(ours, timed(func() { guest.run(t.ctx, t) }))
					}
					return answered("", false)
				})
				s, err := rt.Start(b.Context(), c, SessionOptions{testOnlyWorker: measure, testOnlyUncontained: true})
				require.NoError(b, err)
				ticket, err := s.Submit(b.Context(), Task{Origin: provenance.User, Message: cmd.request})
				require.NoError(b, err)
				_, err = ticket.Wait(b.Context())
				require.NoError(b, err)
				compare(b, rival, ours)
				s.End()
				require.NoError(b, s.Wait(b.Context()))
			})
		}
	}
}

// command runs a command for the task, as a guest would.
func (s *Session) command(t *task, text string) {
	s.runCommand(t, request{shell.Request{Binary: "bash", Command: text}})
}

func timed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}

func combinedOutput(b *testing.B, script string) {
	if _, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil {
		b.Error(err)
	}
}

// compare reports the medians of both sides and their ratio.
func compare(b *testing.B, rival, ours []time.Duration) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(micros(quantile(rival, 0.5)), "rival-µs")
	b.ReportMetric(micros(quantile(ours, 0.5)), "ours-µs")
	b.ReportMetric(micros(quantile(ours, 0.5))/micros(quantile(rival, 0.5)), "ratio")
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

func quantile(d []time.Duration, q float64) time.Duration {
	slices.Sort(d)
	return d[min(len(d)-1, int(float64(len(d))*q))]
}

// BenchmarkDemotion tells how late a call returns after its grace is over, the
// durable record included where there is one.
func BenchmarkDemotion(b *testing.B) {
	const grace = 20 * time.Millisecond
	for _, way := range runners {
		b.Run(way.name, func(b *testing.B) {
			rt, c := benchCapsule(b, way.edit, func(m *capsule.Manifest) {
				m.Lifecycle.ShellGraceSecs, m.Lifecycle.ShellMaxRunning = grace.Seconds(), 10000
			})
			var late []time.Duration
			measure := scripted(func(s *Session, t *task) outcome {
				if t.delivery != nil {
					return answered("", false)
				}
				for range b.N {
					late = append(late, timed(func() { s.command(t, "sleep 0.2") })-grace)
				}
				return answered("", false)
			})
			s, err := rt.Start(b.Context(), c, SessionOptions{testOnlyWorker: measure, testOnlyUncontained: true})
			require.NoError(b, err)
			_, err = s.Submit(b.Context(), Task{Origin: provenance.User})
			require.NoError(b, err)
			require.NoError(b, s.WaitIdle(b.Context()))
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(micros(quantile(late, 0.5)), "late-p50-µs")
			b.ReportMetric(micros(quantile(late, 0.99)), "late-p99-µs")
			s.End()
			require.NoError(b, s.Wait(b.Context()))
		})
	}
}

// BenchmarkCompletion tells how long after the end of a command the guest's
// handler is called: the command says when it is about to end.
func BenchmarkCompletion(b *testing.B) {
	for _, way := range runners {
		b.Run(way.name, func(b *testing.B) {
			rt, c := benchCapsule(b, way.edit, atOnce)
			var delays []time.Duration
			called := make(chan struct{}, 1)
			measure := scripted(func(s *Session, t *task) outcome {
				now := time.Now()
				if t.delivery == nil {
					s.command(t, "sleep 0.02; printf %s $EPOCHREALTIME > end")
					return answered("", false)
				}
				delays = append(delays, now.Sub(endOf(b, s)))
				called <- struct{}{}
				return answered("", false)
			})
			s, err := rt.Start(b.Context(), c, SessionOptions{testOnlyWorker: measure, testOnlyUncontained: true})
			require.NoError(b, err)
			for range b.N {
				_, err := s.SubmitWhenAdmitted(b.Context(), Task{Origin: provenance.User})
				require.NoError(b, err)
				<-called
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(micros(quantile(delays, 0.5)), "p50-µs")
			b.ReportMetric(micros(quantile(delays, 0.99)), "p99-µs")
			s.End()
			require.NoError(b, s.Wait(context.Background()))
		})
	}
}

// endOf reads the instant that the command wrote, in seconds since the epoch.
func endOf(b *testing.B, s *Session) time.Time {
	data, err := os.ReadFile(filepath.Join(s.Workdir(), "end"))
	require.NoError(b, err)
	secs, micro, ok := strings.Cut(string(data), ".")
	require.True(b, ok, "%q", data)
	sec, err := strconv.ParseInt(secs, 10, 64)
	require.NoError(b, err)
	usec, err := strconv.ParseInt(micro, 10, 64)
	require.NoError(b, err)
	return time.Unix(sec, usec*1000)
}

// BenchmarkTask is a whole task that runs no command, its durable file included.
func BenchmarkTask(b *testing.B) {
	rt, c := benchCapsule(b)
	s, err := rt.Start(b.Context(), c, SessionOptions{})
	require.NoError(b, err)
	for range b.N {
		ticket, err := s.SubmitWhenAdmitted(b.Context(), Task{Origin: provenance.User, Message: `{"binary":"none"}`})
		require.NoError(b, err)
		_, err = ticket.Wait(b.Context())
		require.NoError(b, err)
	}
	s.End()
	require.NoError(b, s.Wait(b.Context()))
}
