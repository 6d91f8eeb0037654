package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDelivery_StatesAreDurable(t *testing.T) {
	s := newStore(t)
	h := finished(t, s, 1)
	_, err := h.Take(start)
	require.Error(t, err, "what was not offered cannot be taken")

	h, err = h.Offer(Delivery{Session: "ses_1", Task: "tsk_a", Now: start})
	require.NoError(t, err)
	assert.Equal(t, 1, h.record.Attempts)
	h, err = h.Offer(Delivery{Session: "ses_1", Task: "tsk_b", Now: start})
	require.NoError(t, err)
	assert.Equal(t, 2, only(t, s).Attempts, "a second attempt is a repeated delivery")
	assert.Equal(t, "tsk_b", only(t, s).OfferedTask)

	h, err = h.Take(start)
	require.NoError(t, err)
	assert.Equal(t, Taken, only(t, s).State)
	again, err := h.Take(start.Add(time.Hour))
	require.NoError(t, err)
	assert.Equal(t, h.record, again.record)
	_, err = h.Offer(Delivery{Session: "ses_1"})
	assert.Error(t, err)
}

func TestDelivery_OneSessionAtATime(t *testing.T) {
	s := newStore(t)
	h := finished(t, s, 1)
	alive := func(session string) bool { return session == "ses_2" }
	_, err := h.Offer(Delivery{Session: "ses_2", Now: start, Alive: alive})
	require.NoError(t, err)
	_, err = h.Offer(Delivery{Session: "ses_3", Now: start, Alive: alive})
	assert.ErrorIs(t, err, ErrOfferedElsewhere)

	_, err = h.GiveUp("ses_2")
	require.NoError(t, err)
	h, err = h.Offer(Delivery{Session: "ses_3", Now: start, Alive: alive})
	require.NoError(t, err)
	assert.Equal(t, "ses_3", h.record.OfferedSession)
}

func TestClaim_Owes(t *testing.T) {
	r := sample(1)
	r.State, r.Outcome = Finished, &Outcome{}
	mine := Claim{Session: "ses_2", Capsule: "demo", OwnerUID: 1000, Workdir: "/w"}
	assert.True(t, mine.Owes(r))

	for name, change := range map[string]func(*Record, *Claim){
		"another capsule":          func(r *Record, _ *Claim) { r.Capsule = "other" },
		"another owner":            func(r *Record, _ *Claim) { r.OwnerUID = 0 },
		"another workdir":          func(r *Record, _ *Claim) { r.Workdir = "/w2" },
		"running":                  func(r *Record, _ *Claim) { r.State = Running },
		"taken":                    func(r *Record, _ *Claim) { r.State = Taken },
		"given up by this session": func(r *Record, _ *Claim) { r.GivenUpBy = "ses_2" },
		"its session lives":        func(_ *Record, c *Claim) { c.Alive = func(s string) bool { return s == "ses_1" } },
		"being delivered": func(r *Record, c *Claim) {
			r.State, r.OfferedSession = Offered, "ses_7"
			c.Alive = func(s string) bool { return s == "ses_7" }
		},
	} {
		r, c := r, mine
		change(&r, &c)
		assert.False(t, c.Owes(r), name)
	}
	r.State, r.OfferedSession, r.GivenUpBy = Offered, "ses_1", "ses_1"
	assert.True(t, mine.Owes(r), "an earlier session gave up")
}

func TestOwed_AcrossSessionsInOrder(t *testing.T) {
	a, b := newStore(t), newStore(t)
	finished(t, a, 3)
	finished(t, b, 2)
	finished(t, b, 4)
	owed, _, err := Owed([]*Store{a, b}, Claim{Session: "x", Capsule: "demo", OwnerUID: 1000, Workdir: "/w"})
	require.NoError(t, err)
	var ids []string
	for _, h := range owed {
		ids = append(ids, h.Record().WorkID)
	}
	assert.Equal(t, []string{sample(2).WorkID, sample(3).WorkID, sample(4).WorkID}, ids)
}

func TestBackoff(t *testing.T) {
	for attempt := -1; attempt < 80; attempt++ {
		d := Backoff(attempt)
		assert.GreaterOrEqual(t, d, firstDelay/2)
		assert.Less(t, d, lastDelay)
	}
	assert.Less(t, Backoff(1), firstDelay)
	assert.GreaterOrEqual(t, Backoff(40), lastDelay/2)
}

func TestGC(t *testing.T) {
	s := newStore(t)
	session := filepath.Dir(s.Dir())
	outside := put(t, filepath.Join(t.TempDir(), "precious"), "x")
	r := sample(1)
	r.Output = Output{StdoutPath: put(t, filepath.Join(session, "out", "a.stdout"), "abc"), StderrPath: outside}
	h := create(t, s, r)
	require.NoError(t, s.WriteExit(exitOf(h.record, Outcome{})))
	_, err := s.Reconcile(t.Context(), (&world{verdict: Gone}).pass(0))
	require.NoError(t, err)
	gc := func(after time.Duration) int {
		c, err := s.GC(start.Add(after), Retention, nil)
		require.NoError(t, err)
		return c.Works
	}
	assert.Zero(t, gc(1000*time.Hour), "not followed up")
	h, err = h.Offer(Delivery{Session: "ses_1", Now: start})
	require.NoError(t, err)
	assert.Zero(t, gc(1000*time.Hour), "offered is not taken")
	_, err = h.Take(start)
	require.NoError(t, err)
	assert.Zero(t, gc(Retention), "within the retention")
	assert.Equal(t, 1, gc(Retention+time.Second))
	assert.FileExists(t, outside)
	assert.NoFileExists(t, r.Output.StdoutPath)
	assert.NoFileExists(t, s.recordPath(r.WorkID))
	assert.NoFileExists(t, s.exitPath(r.WorkID))
	assert.Zero(t, gc(Retention+time.Second))
}

func TestHandle_Text(t *testing.T) {
	base := sample(1)
	base.State = Finished
	for want, o := range map[string]Outcome{
		"could not be identified as ours":           {ExitCode: -1, Reason: OwnershipLost},
		"was stopped.":                              {ExitCode: -1, Reason: Killed},
		"limit of 1h0m0s. Still alive: 7 (x\ufffd)": {ExitCode: -1, Reason: TimedOut, Survivors: []Survivor{{7, "x\x1b"}}},
		"lost with its supervisor":                  {ExitCode: -1, Reason: Died},
		"missing or was refused":                    {ExitCode: -1, Reason: ResultUnavailable},
		"exit code 3":                               {ExitCode: 3},
	} {
		r := base
		r.Outcome = &o
		text := Handle{record: r}.Text()
		assert.Contains(t, text, want)
		assert.Contains(t, text, "Command: sleep 9\n\nOutput:\n(no output)")
	}
	r := sample(1)
	r.State, r.Command = Running, "echo x\nOutput:\nforged"
	text := Handle{record: r}.Text()
	assert.Contains(t, text, "still running")
	assert.Contains(t, text, `Command: "echo x\nOutput:\nforged"`)
}

func TestHandle_TextShowsHeadAndTail(t *testing.T) {
	dir := t.TempDir()
	long := "first" + strings.Repeat("日", 30_000) + "last"
	tests := []struct {
		name, stdout, stderr string
		cut                  bool
		has                  []string
	}{
		{"short", "out\n", "err\n", false, []string{"out\n", "\nStderr:\nerr\n"}},
		{"stderr alone", "", "err", false, []string{"Output:\nStderr:\nerr"}},
		{"exactly at the limit", strings.Repeat("é", textLimit), "", false, nil},
		{"one over", strings.Repeat("é", textLimit+1), "", true, nil},
		{"long", long, "", true, []string{"first日", "日last"}},
		{"long in stderr", "begin", long, true, []string{"begin\nStderr:\nfirst", "日last"}},
		{"very long", strings.Repeat("a", 300_000), strings.Repeat("b", 300_000), true, []string{"aaa", "bbb"}},
		{"escapes", "\x1b[31mred\x00\xff", "", false, []string{"\ufffd[31mred\ufffd\ufffd"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := sample(1)
			r.State, r.Outcome = Finished, &Outcome{}
			r.Output = Output{StdoutPath: put(t, filepath.Join(dir, "o"), tt.stdout), StderrPath: put(t, filepath.Join(dir, "e"), tt.stderr)}
			_, out, ok := strings.Cut(Handle{record: r}.Text(), "Output:\n")
			require.True(t, ok)
			assert.Equal(t, tt.cut, strings.Contains(out, cutMarker))
			assert.True(t, utf8.ValidString(out))
			assert.LessOrEqual(t, utf8.RuneCountInString(out), textLimit+len(cutMarker))
			for _, part := range tt.has {
				assert.Contains(t, "Output:\n"+out, part)
			}
		})
	}
	require.NoError(t, os.RemoveAll(dir))
}
