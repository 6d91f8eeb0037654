package jobs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const nonce = "0123456789abcdef0123456789abcdef"

var start = time.UnixMilli(1_800_000_000_000)

// sample is a running work of pid 4242, started at start.
func sample(n int) Record {
	return Record{
		WorkID: fmt.Sprintf("wrk_%032x", n), Launch: fmt.Sprintf("cmd_%032x", n), Nonce: nonce,
		Session: "ses_1", Task: "tsk_1", ContextID: "ctx_1", Origin: "user", Trust: "trusted",
		Capsule: "demo", OwnerUID: 1000, Workdir: "/w", Binary: "/bin/bash", Command: "sleep 9",
		Identity:  Identity{PID: 4242, StartTime: 77, BootID: "boot", PGID: 4242},
		StartedAt: start.UnixMilli(), MaxRuntimeMS: 3_600_000,
	}
}

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "ses_1", "jobs"))
	require.NoError(t, err)
	return s
}

func create(t testing.TB, s *Store, r Record) Handle {
	t.Helper()
	h, err := s.Create(r)
	require.NoError(t, err)
	return h
}

// only reads the store, which must hold exactly one record.
func only(t testing.TB, s *Store) Record {
	t.Helper()
	handles, aside, err := s.List()
	require.NoError(t, err)
	require.Empty(t, aside)
	require.Len(t, handles, 1)
	return handles[0].Record()
}

func exitOf(r Record, o Outcome) ExitRecord {
	return ExitRecord{WorkID: r.WorkID, Launch: r.Launch, Nonce: r.Nonce, Identity: r.Identity, Outcome: o}
}

// world is a set of processes that answers as it is told and counts what was
// asked of it.
type world struct {
	verdict   Verdict
	members   []Survivor
	survivors []Survivor
	teardowns []int
	verified  int
}

func (w *world) Verify(Identity) Verdict                 { w.verified++; return w.verdict }
func (w *world) Members(Record) []Survivor               { return w.members }
func (w *world) Age(Identity) (d time.Duration, ok bool) { return 0, false }

func (w *world) Teardown(_ context.Context, r Record) ([]Survivor, error) {
	w.teardowns = append(w.teardowns, r.Identity.PID)
	return w.survivors, nil
}

func (w *world) pass(after time.Duration) Pass {
	return Pass{Processes: w, Now: start.Add(after)}
}

// finished brings a new work as far as Finished.
func finished(t testing.TB, s *Store, n int) Handle {
	t.Helper()
	h := create(t, s, sample(n))
	require.NoError(t, s.WriteExit(exitOf(h.record, Outcome{})))
	_, err := s.Reconcile(t.Context(), (&world{verdict: Gone}).pass(time.Second))
	require.NoError(t, err)
	h, err = h.Refresh()
	require.NoError(t, err)
	require.Equal(t, Finished, h.record.State)
	return h
}

func put(t testing.TB, path, text string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
