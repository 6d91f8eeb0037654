package supervisor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// contain makes the bench's commands contained.
func (b *bench) contain(class containment.Class, limits containment.Resources) {
	b.t.Helper()
	p, err := containment.Plan(containment.Ask{Class: class, Resources: limits}, containment.Probe(class == containment.Sealed),
		containment.Facts{Workdir: b.o.Session.Workdir, Hidden: []string{b.dir}})
	require.NoError(b.t, err)
	b.o.Containment = &p
}

// secret is a file of the session's own, which no command may read.
func (b *bench) secret() string {
	path := filepath.Join(b.dir, "secret")
	require.NoError(b.t, os.WriteFile(path, []byte("secret"), 0o644))
	return path
}

// outputOf runs a command to its end.
func (b *bench) outputOf(r *Runner, command string) (string, shell.Exit) {
	b.t.Helper()
	p := b.start(r, command)
	await(b.t, "the end", p.Ended())
	return slurp(b.t, p.Output().StdoutPath), p.Exit()
}

func TestContain(t *testing.T) {
	for _, class := range []containment.Class{containment.Advisory, containment.Scoped, containment.Sealed} {
		t.Run(string(class), func(t *testing.T) {
			b := newBench(t)
			b.contain(class, containment.Resources{})
			r := b.connect()
			assert.True(t, r.Receipt().Pending)
			out, exit := b.outputOf(r, "cat "+b.secret()+" 2>/dev/null; echo made > file; kill -9 $$")
			if class == containment.Advisory {
				assert.Equal(t, "secret", out)
			} else {
				assert.Empty(t, out)
			}
			assert.Equal(t, 137, exit.Code)
			assert.Equal(t, "SIGKILL", exit.Signal)
			assert.Equal(t, "made\n", slurp(t, filepath.Join(b.o.Session.Workdir, "file")))
			assert.False(t, r.Receipt().Pending)
			assert.Equal(t, class, r.Receipt().Class)
		})
	}
}

// A supervisor that takes over contains like the one before, and the records of
// both say so.
func TestContain_theSupervisorIsKilled(t *testing.T) {
	b := newBench(t)
	b.contain(containment.Scoped, containment.Resources{})
	lost := make(chan struct{}, 1)
	b.o.Log = func(string) { lost <- struct{}{} }
	r := b.connect()
	g := b.gate("go")
	p := b.start(r, "read x < go")
	require.NoError(t, unix.Kill(r.PID(), unix.SIGKILL))
	await(t, "the loss", lost)
	require.NoError(t, p.Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()}))
	out, _ := b.outputOf(r, "cat "+b.secret())
	assert.Empty(t, out)
	g.open()
	await(t, "the end", p.Ended())
	var receipt containment.Receipt
	require.NoError(t, json.Unmarshal(b.records(r)[0].Receipt, &receipt))
	assert.Equal(t, containment.Scoped, receipt.Class)
	assert.False(t, receipt.Pending)
}

// A limit that a command met is in its record.
func TestContain_limit(t *testing.T) {
	b := newBench(t)
	kib := int64(1024)
	b.contain(containment.Scoped, containment.Resources{MaxFileSizeBytes: &kib})
	r := b.connect()
	g := b.gate("go")
	p := b.start(r, "read x < go; exec head -c 2000 /dev/zero > file")
	require.NoError(t, p.Demote(t.Context(), shell.Demotion{WorkID: ids.Work.New()}))
	g.open()
	await(t, "the end", p.Ended())
	assert.Equal(t, containment.LimitFileSize, p.Exit().Limit)
	assert.Equal(t, containment.LimitFileSize, b.records(r)[0].Outcome.Limit)
}

// A sandbox that cannot be made refuses every command, and is told of before.
func TestContain_fails(t *testing.T) {
	b := newBench(t)
	b.contain(containment.Scoped, containment.Resources{})
	b.o.Containment.Grants = append(b.o.Containment.Grants, containment.Grant{Path: filepath.Join(b.dir, "missing")})
	r := b.connect()
	require.ErrorContains(t, r.Contained(t.Context()), "cannot prepare containment class scoped")
	_, err := r.Start(t.Context(), b.launch("true"))
	require.ErrorContains(t, err, "cannot prepare containment class scoped", "nothing runs without it")
}

// BenchmarkStartUpContained is BenchmarkStartUp with a sandbox that is made on
// the way, and the supervisor's memory once it has run a command in it.
func BenchmarkStartUpContained(b *testing.B) {
	for _, class := range []containment.Class{containment.Scoped, containment.Sealed} {
		b.Run(string(class), func(b *testing.B) {
			bn := newBench(b)
			bn.contain(class, containment.Resources{})
			for b.Loop() {
				r, err := Connect(b.Context(), bn.o)
				require.NoError(b, err)
				b.StopTimer()
				_, exit := bn.outputOf(r, "true")
				require.Zero(b, exit.Code)
				b.ReportMetric(memory(b, r.PID(), "Rss")/1024, "rss-MiB")
				b.ReportMetric(memory(b, r.PID(), "Pss")/1024, "pss-MiB")
				require.NoError(b, r.Close())
				bn.waitLeft()
				b.StartTimer()
			}
		})
	}
}
