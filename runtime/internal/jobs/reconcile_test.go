package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReconcile_Outcomes(t *testing.T) {
	tests := []struct {
		name   string
		exit   *Outcome
		want   Outcome
		status string
	}{
		{"exit 0", &Outcome{DurationMS: 5}, Outcome{DurationMS: 5}, "done"},
		{"exit 7", &Outcome{ExitCode: 7}, Outcome{ExitCode: 7}, "failed"},
		{"a signal of its own", &Outcome{ExitCode: 137, Signal: "SIGKILL"}, Outcome{ExitCode: 137, Signal: "SIGKILL"}, "failed"},
		{"a limit", &Outcome{Limit: "memory"}, Outcome{Limit: "memory"}, "failed"},
		{"a wait error", &Outcome{ExitCode: -1, WaitErr: "x"}, Outcome{ExitCode: -1, WaitErr: "x"}, "failed"},
		{"timed out", &Outcome{ExitCode: -1, Reason: TimedOut}, Outcome{ExitCode: -1, Reason: TimedOut}, "failed"},
		{"no word of it", nil, Outcome{ExitCode: -1, Reason: Died, DurationMS: 2000, EndedAt: start.UnixMilli() + 2000}, "failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			h := create(t, s, sample(1))
			if tt.exit != nil {
				require.NoError(t, s.WriteExit(exitOf(h.record, *tt.exit)))
			}
			w := &world{verdict: Gone}
			report, err := s.Reconcile(t.Context(), w.pass(2*time.Second))
			require.NoError(t, err)
			require.Len(t, report.Finished, 1)
			r := only(t, s)
			assert.Equal(t, Finished, r.State)
			assert.Equal(t, tt.want, *r.Outcome)
			assert.Equal(t, tt.status, r.Status())

			// Again, and nothing changes.
			report, err = s.Reconcile(t.Context(), w.pass(time.Hour))
			require.NoError(t, err)
			assert.Empty(t, report.Finished)
			assert.Equal(t, r, only(t, s))
		})
	}
}

// An exit record can tell how a command ended, and nothing else.
func TestReconcile_AResultIsNoProducerOfIdentity(t *testing.T) {
	forged := map[string]func(*ExitRecord){
		"nonce":      func(e *ExitRecord) { e.Nonce = strings.Repeat("0", 32) },
		"launch":     func(e *ExitRecord) { e.Launch = "cmd_other" },
		"pid":        func(e *ExitRecord) { e.Identity.PID++ },
		"start time": func(e *ExitRecord) { e.Identity.StartTime++ },
		"boot":       func(e *ExitRecord) { e.Identity.BootID = "other" },
		"group":      func(e *ExitRecord) { e.Identity.PGID++ },
	}
	for name, change := range forged {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			h := create(t, s, sample(1))
			e := exitOf(h.record, Outcome{})
			change(&e)
			require.NoError(t, s.WriteExit(e))
			_, err := s.Reconcile(t.Context(), (&world{verdict: Owned}).pass(0))
			require.NoError(t, err)
			r := only(t, s)
			assert.Equal(t, ResultUnavailable, r.Outcome.Reason)
			assert.Equal(t, -1, r.Outcome.ExitCode)
			assert.Contains(t, r.Outcome.WaitErr, "not about this launch")
			assert.Equal(t, h.record.Identity, r.Identity)
			assert.NoFileExists(t, s.exitPath(r.WorkID))
		})
	}
}

func TestReconcile_UnreadableExitRecordIsUnknown(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "half": `{"version":1,"work_id":"wrk`, "words": "abc", "a bare code": "0",
		"newer": `{"version":9}`, "impossible code": `{"version":1,"outcome":{"exit_code":4000}}`,
		"a reason and a code": `{"version":1,"outcome":{"exit_code":0,"reason":"killed"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			h := create(t, s, sample(1))
			put(t, s.exitPath(h.record.WorkID), text)
			_, err := s.Reconcile(t.Context(), (&world{verdict: Gone}).pass(0))
			require.NoError(t, err)
			r := only(t, s)
			assert.Equal(t, -1, r.Outcome.ExitCode)
			assert.Equal(t, ResultUnavailable, r.Outcome.Reason)
			entries, err := os.ReadDir(s.Dir() + "/" + asideDir)
			require.NoError(t, err)
			assert.Len(t, entries, 1)
		})
	}
}

func TestReconcile_ExitRecordCannotMoveTheOutput(t *testing.T) {
	s := newStore(t)
	h := create(t, s, sample(1))
	e, err := encode(exitOf(h.record, Outcome{}))
	require.NoError(t, err)
	var raw map[string]any
	require.NoError(t, json.Unmarshal(e, &raw))
	raw["version"] = 1
	raw["output"] = map[string]any{"stdout_path": "/etc/passwd"}
	data, err := json.Marshal(raw)
	require.NoError(t, err)
	put(t, s.exitPath(h.record.WorkID), string(data))
	_, err = s.Reconcile(t.Context(), (&world{verdict: Gone}).pass(0))
	require.NoError(t, err)
	assert.Empty(t, only(t, s).Output.StdoutPath)
	assert.Equal(t, ResultUnavailable, only(t, s).Outcome.Reason)
}

func TestReconcile_OverItsLimitIsTornDown(t *testing.T) {
	s := newStore(t)
	create(t, s, sample(1))
	w := &world{verdict: Owned}
	_, err := s.Reconcile(t.Context(), w.pass(time.Hour+time.Second))
	require.NoError(t, err)
	r := only(t, s)
	assert.Equal(t, TimedOut, r.Outcome.Reason)
	assert.Equal(t, []int{4242}, w.teardowns)
	assert.Zero(t, r.KillFailed)
}

func TestReconcile_UnprovenTeardownIsTriedThreeTimes(t *testing.T) {
	s := newStore(t)
	create(t, s, sample(1))
	w := &world{verdict: Owned, survivors: []Survivor{{4300, "stuck"}}}
	for try := 1; try <= 2; try++ {
		report, err := s.Reconcile(t.Context(), w.pass(2*time.Hour))
		require.NoError(t, err)
		assert.Len(t, report.KillFailed, 1)
		assert.Equal(t, try, only(t, s).KillFailed)
		assert.Equal(t, Running, only(t, s).State)
	}
	report, err := s.Reconcile(t.Context(), w.pass(2*time.Hour))
	require.NoError(t, err)
	assert.Len(t, report.Finished, 1)
	r := only(t, s)
	assert.Equal(t, w.survivors, r.Outcome.Survivors)
	assert.Equal(t, TimedOut, r.Outcome.Reason)
	assert.Len(t, w.teardowns, 3)

	// It is never pruned: something of it may still live.
	h, err := report.Finished[0].Offer(Delivery{Session: "ses_1", Now: start})
	require.NoError(t, err)
	_, err = h.Take(start)
	require.NoError(t, err)
	c, err := s.GC(start.Add(100*time.Hour), time.Hour, nil)
	require.NoError(t, err)
	assert.Zero(t, c.Works)
}

// Nor is one whose supervisor could not prove the teardown; of one that died the
// processes that it left were never signalled, and nothing is unproven.
func TestGC_Unproven(t *testing.T) {
	for reason, pruned := range map[Reason]int{Killed: 0, TimedOut: 0, Died: 1} {
		t.Run(string(reason), func(t *testing.T) {
			s := newStore(t)
			h := create(t, s, sample(1))
			require.NoError(t, s.WriteExit(exitOf(h.record, Outcome{ExitCode: -1, Reason: reason, Survivors: []Survivor{{4300, "stuck"}}})))
			h, err := h.Reconcile(t.Context(), (&world{verdict: Gone}).pass(0))
			require.NoError(t, err)
			h, err = h.Offer(Delivery{Session: "ses_1", Now: start})
			require.NoError(t, err)
			_, err = h.Take(start)
			require.NoError(t, err)
			c, err := s.GC(start.Add(100*time.Hour), time.Hour, nil)
			require.NoError(t, err)
			assert.Equal(t, pruned, c.Works)
		})
	}
}

func TestReconcile_NeverSignalsABystander(t *testing.T) {
	for name, change := range map[string]func(*Record, *world){
		"pid 0":        func(r *Record, _ *world) { r.Identity.PID = 0 },
		"pid 1":        func(r *Record, _ *world) { r.Identity.PID = 1 },
		"pid -1":       func(r *Record, _ *world) { r.Identity.PID = -1 },
		"foreign":      func(_ *Record, w *world) { w.verdict = Foreign },
		"gone":         func(_ *Record, w *world) { w.verdict = Gone },
		"unverifiable": func(_ *Record, w *world) { w.verdict = Unverifiable },
	} {
		t.Run(name, func(t *testing.T) {
			s, w, r := newStore(t), &world{verdict: Owned}, sample(1)
			change(&r, w)
			h := create(t, s, r)
			for range 4 {
				_, err := s.Reconcile(t.Context(), w.pass(5*time.Hour))
				require.NoError(t, err)
			}
			_, err := h.Stop(t.Context(), w.pass(5*time.Hour))
			require.NoError(t, err)
			assert.Empty(t, w.teardowns)
			assert.Equal(t, TimedOut, only(t, s).Outcome.Reason)
		})
	}
}

func TestReconcile_DeadLeaderWithALivingGroupIsReported(t *testing.T) {
	s := newStore(t)
	create(t, s, sample(1))
	w := &world{verdict: Gone, members: []Survivor{{5000, "child"}}}
	_, err := s.Reconcile(t.Context(), w.pass(0))
	require.NoError(t, err)
	r := only(t, s)
	assert.Equal(t, Died, r.Outcome.Reason)
	assert.Equal(t, w.members, r.Outcome.Survivors)
	assert.Empty(t, w.teardowns)
}

func TestRetire(t *testing.T) {
	s := newStore(t)
	collected := create(t, s, sample(1))
	require.NoError(t, s.WriteExit(exitOf(collected.record, Outcome{})))
	create(t, s, sample(2))
	for verdict, want := range map[Verdict]StartUpReport{
		Owned: {Seen: 2, Kept: 2}, Gone: {Seen: 2, Kept: 2},
	} {
		report, err := s.Retire(t.Context(), (&world{verdict: verdict}).pass(9*time.Hour))
		require.NoError(t, err)
		assert.Equal(t, want, report)
	}
	w := &world{verdict: Foreign, members: []Survivor{{1, "bystander"}}}
	report, err := s.Retire(t.Context(), w.pass(9*time.Hour))
	require.NoError(t, err)
	assert.Equal(t, StartUpReport{Seen: 2, Retired: 1, Kept: 1}, report)
	assert.Empty(t, w.teardowns)

	owed, _, err := Owed([]*Store{s}, Claim{Session: "ses_2", Capsule: "demo", OwnerUID: 1000, Workdir: "/w"})
	require.NoError(t, err)
	require.Len(t, owed, 1, "the guest asked for it and is owed an answer")
	assert.Equal(t, OwnershipLost, owed[0].record.Outcome.Reason)
	assert.Empty(t, owed[0].record.Outcome.Survivors)
}

func TestReconcile_ManyCallersAtOnce(t *testing.T) {
	s := newStore(t)
	for n := range 20 {
		h := create(t, s, sample(n))
		require.NoError(t, s.WriteExit(exitOf(h.record, Outcome{ExitCode: n})))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			own, err := Open(s.Dir())
			assert.NoError(t, err)
			_, err = own.Reconcile(context.Background(), (&world{verdict: Gone}).pass(0))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	handles, _, err := s.List()
	require.NoError(t, err)
	for n, h := range handles {
		assert.Equal(t, Outcome{ExitCode: n}, *h.record.Outcome)
	}
}

// overseer is a living supervisor.
type overseer struct {
	stops []string
	stop  func()
	err   error
}

func (o *overseer) Stop(_ context.Context, launch, _ string) error {
	o.stops = append(o.stops, launch)
	if o.stop != nil {
		o.stop()
	}
	return o.err
}

func TestHandle_Stop(t *testing.T) {
	t.Run("by the supervisor", func(t *testing.T) {
		s, w := newStore(t), &world{verdict: Owned}
		h := create(t, s, sample(1))
		o := &overseer{stop: func() {
			assert.NotZero(t, only(t, s).StopRequestedAt, "the wish is durable before it is acted on")
			assert.NoError(t, s.WriteExit(exitOf(h.record, Outcome{ExitCode: -1, Reason: Killed})))
		}}
		h, err := h.Stop(t.Context(), Pass{Processes: w, Supervisor: o, Now: start})
		require.NoError(t, err)
		assert.Equal(t, Killed, h.record.Outcome.Reason)
		assert.Empty(t, w.teardowns)

		again, err := h.Stop(t.Context(), Pass{Processes: w, Supervisor: o, Now: start})
		require.NoError(t, err)
		assert.Equal(t, h.record, again.record)
		assert.Len(t, o.stops, 1)
	})
	t.Run("the supervisor goes away", func(t *testing.T) {
		s, w := newStore(t), &world{verdict: Owned}
		h := create(t, s, sample(1))
		h, err := h.Stop(t.Context(), Pass{Processes: w, Supervisor: &overseer{err: errors.New("gone")}, Now: start})
		require.NoError(t, err)
		assert.Equal(t, Killed, h.record.Outcome.Reason)
		assert.Equal(t, []int{4242}, w.teardowns)
	})
	t.Run("unproven", func(t *testing.T) {
		s, w := newStore(t), &world{verdict: Owned, survivors: []Survivor{{9, "x"}}}
		h, err := create(t, s, sample(1)).Stop(t.Context(), w.pass(0))
		assert.ErrorIs(t, err, ErrKillFailed)
		assert.Equal(t, 1, h.record.KillFailed)
		w.survivors = nil
		_, err = s.Reconcile(t.Context(), w.pass(0))
		require.NoError(t, err)
		assert.Equal(t, Killed, only(t, s).Outcome.Reason, "the next pass goes on with it")
	})
	t.Run("finished is unchanged", func(t *testing.T) {
		s, w := newStore(t), &world{verdict: Owned}
		h := finished(t, s, 1)
		again, err := h.Stop(t.Context(), w.pass(0))
		require.NoError(t, err)
		assert.Equal(t, h.record, again.record)
	})
}

func TestReconcile_AStopThatNeverReachedTheSupervisor(t *testing.T) {
	s, w := newStore(t), &world{verdict: Owned}
	h := create(t, s, sample(1))
	_, err := h.change(func(r *Record) (bool, error) { r.StopRequestedAt = 5; return true, nil })
	require.NoError(t, err)
	o := &overseer{stop: func() {
		assert.NoError(t, s.WriteExit(exitOf(h.record, Outcome{ExitCode: -1, Reason: Killed})))
	}}
	report, err := s.Reconcile(t.Context(), Pass{Processes: w, Supervisor: o, Now: start})
	require.NoError(t, err)
	assert.Len(t, report.Finished, 1)
	assert.Equal(t, []string{h.record.Launch}, o.stops)
}
