package jobs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// writerEnv makes the test binary one of the writers of
// TestStore_FortyProcesses: it names the store to write to.
const writerEnv = "JOBS_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerEnv); dir != "" {
		if err := bump(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// bump adds one to the only record's counter.
func bump(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	handles, _, err := s.List()
	if err != nil {
		return err
	}
	_, err = handles[0].change(func(r *Record) (bool, error) {
		r.KillFailed++
		return true, nil
	})
	return err
}

func TestStore_FortyProcesses(t *testing.T) {
	s := newStore(t)
	create(t, s, sample(1))
	var writers []*exec.Cmd
	for range 40 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), writerEnv+"="+s.Dir())
		c.Stderr = os.Stderr
		require.NoError(t, c.Start())
		writers = append(writers, c)
	}
	for _, c := range writers {
		require.NoError(t, c.Wait())
	}
	assert.Equal(t, 40, only(t, s).KillFailed)
}

func TestStore_FortyGoroutines(t *testing.T) {
	s := newStore(t)
	create(t, s, sample(1))
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() { assert.NoError(t, bump(s.Dir())) })
	}
	wg.Wait()
	assert.Equal(t, 40, only(t, s).KillFailed)
}

func TestStore_CreateRefuses(t *testing.T) {
	s := newStore(t)
	bad := map[string]func(*Record){
		"bad work id":     func(r *Record) { r.WorkID = "wrk_../x" },
		"bad launch name": func(r *Record) { r.Launch = "a/b" },
		"bad nonce":       func(r *Record) { r.Nonce = "secret" },
		"no session":      func(r *Record) { r.Capsule = "" },
		"negative":        func(r *Record) { r.MaxRuntimeMS = -1 },
		"outcome":         func(r *Record) { r.Outcome = &Outcome{} },
	}
	for want, change := range bad {
		r := sample(1)
		change(&r)
		_, err := s.Create(r)
		assert.ErrorContains(t, err, want)
	}
	create(t, s, sample(1))
	_, err := s.Create(sample(1))
	assert.ErrorIs(t, err, ErrExists)
}

func TestStore_NothingIsWorldReadable(t *testing.T) {
	s := newStore(t)
	finished(t, s, 1)
	require.NoError(t, filepath.WalkDir(s.Dir(), func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	}))
}

// One file that cannot be read is set aside; the others live, and a second look
// reports nothing.
func TestStore_CorruptRecordsAreSetAside(t *testing.T) {
	whole, err := encode(func() Record { r := sample(3); r.Version, r.State = 1, Running; return r }())
	require.NoError(t, err)
	tests := map[string]struct{ text, why string }{
		"empty":         {"", "unexpected end"},
		"truncated":     {string(whole[:len(whole)/2]), "unexpected end"},
		"nuls":          {strings.Repeat("\x00", 400), "invalid character"},
		"no object":     {"[]", "cannot unmarshal"},
		"no version":    {"{}", "no such version"},
		"newer":         {`{"version":99,"anything":[1]}`, "newer version"},
		"another's":     {strings.Replace(string(whole), sample(3).WorkID, sample(4).WorkID, 1), "it names"},
		"trailing":      {string(whole) + "{}", "after top-level value"},
		"unknown field": {`{"version":1,"admin":true}`, "unknown field"},
		"no outcome":    {strings.Replace(string(whole), `"state":"running"`, `"state":"taken"`, 1), "without an outcome"},
		"bad state":     {strings.Replace(string(whole), `"state":"running"`, `"state":"paid"`, 1), "bad state"},
		"huge":          {strings.Repeat(" ", maxFile+1), "more than"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			create(t, s, sample(1))
			create(t, s, sample(5))
			put(t, s.recordPath(sample(3).WorkID), tt.text)
			handles, aside, err := s.List()
			require.NoError(t, err)
			assert.Len(t, handles, 2)
			require.Len(t, aside, 1)
			assert.Contains(t, aside[0].Why, tt.why)
			got, err := os.ReadFile(aside[0].File)
			require.NoError(t, err)
			assert.Equal(t, tt.text, string(got))

			_, aside, err = s.List()
			require.NoError(t, err)
			assert.Empty(t, aside)
		})
	}
}

func TestStore_WhatIsNoFileIsSetAside(t *testing.T) {
	s := newStore(t)
	create(t, s, sample(1))
	require.NoError(t, os.Symlink("/etc/passwd", s.recordPath(sample(2).WorkID)))
	require.NoError(t, os.Mkdir(s.recordPath(sample(3).WorkID), 0o700))
	handles, aside, err := s.List()
	require.NoError(t, err)
	assert.Len(t, handles, 1)
	assert.Len(t, aside, 2)
}

func TestStore_NewerRecordsComeBack(t *testing.T) {
	s := newStore(t)
	r := sample(1)
	create(t, s, r)
	data, err := os.ReadFile(s.recordPath(r.WorkID))
	require.NoError(t, err)
	put(t, s.recordPath(r.WorkID), strings.Replace(string(data), `"version":1`, `"version":2`, 1))
	_, aside, err := s.List()
	require.NoError(t, err)
	require.Len(t, aside, 1)

	// The build that knows the version finds it again.
	put(t, aside[0].File, string(data))
	again, err := Open(s.Dir())
	require.NoError(t, err)
	assert.Equal(t, r.WorkID, only(t, again).WorkID)
}

func TestHandle_ActsOnlyOnItsOwnRecord(t *testing.T) {
	s := newStore(t)
	h := create(t, s, sample(1))
	other := sample(1)
	other.Nonce = strings.Repeat("f", 32)
	require.NoError(t, os.Remove(s.recordPath(other.WorkID)))
	create(t, s, other)
	w := &world{verdict: Owned}

	_, err := h.Stop(t.Context(), w.pass(0))
	assert.ErrorIs(t, err, ErrGone)
	_, err = h.Offer(Delivery{})
	assert.ErrorIs(t, err, ErrGone)
	_, err = h.Take(start)
	assert.ErrorIs(t, err, ErrGone)
	_, err = h.Refresh()
	assert.ErrorIs(t, err, ErrGone)
	assert.Empty(t, w.teardowns)
}

// A writer that is killed leaves a temporary file, which nobody takes for a
// record.
func TestStore_IgnoresTemporaryFiles(t *testing.T) {
	s := newStore(t)
	create(t, s, sample(1))
	put(t, filepath.Join(s.Dir(), tempPrefix+"123"), "{")
	put(t, filepath.Join(s.Dir(), tempPrefix+"123.json"), "{")
	only(t, s)
}

func FuzzDecodeRecord(f *testing.F) {
	r := sample(1)
	r.Version, r.State = 1, Running
	whole, err := encode(r)
	require.NoError(f, err)
	r.State, r.Outcome = Taken, &Outcome{ExitCode: -1, Reason: Died, Survivors: []Survivor{{1, "x"}}}
	taken, err := encode(r)
	require.NoError(f, err)
	for _, seed := range []string{string(whole), string(taken), "", "{}", `{"version":2}`, "\x00", `{"version":1e9}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decodeRecord(sample(1).WorkID, data)
		if err != nil {
			return
		}
		again, err := encode(r)
		require.NoError(t, err)
		back, err := decodeRecord(r.WorkID, again)
		require.NoError(t, err)
		third, err := encode(back)
		require.NoError(t, err)
		assert.Equal(t, string(again), string(third))
	})
}

func FuzzDecodeExit(f *testing.F) {
	whole, err := encode(exitOf(sample(1), Outcome{ExitCode: 3}))
	require.NoError(f, err)
	f.Add(whole)
	f.Add([]byte("abc"))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeExit(data)
		if err == nil {
			assert.LessOrEqual(t, -1, e.Outcome.ExitCode)
		}
	})
}

func BenchmarkReconcile10000(b *testing.B) {
	s := newStore(b)
	for n := range 10_000 {
		r := sample(n)
		r.Version, r.State = Version, Running
		data, err := encode(r)
		require.NoError(b, err)
		require.NoError(b, os.WriteFile(s.recordPath(r.WorkID), data, 0o600))
	}
	w := &world{verdict: Owned}
	for b.Loop() {
		report, err := s.Reconcile(b.Context(), w.pass(time.Minute))
		require.NoError(b, err)
		require.Equal(b, 10_000, report.Running)
	}
}

func BenchmarkCreate(b *testing.B) {
	s := newStore(b)
	n := 0
	for b.Loop() {
		n++
		create(b, s, sample(n))
	}
}
