package detach_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

func TestLostReport_Text(t *testing.T) {
	m := lostReport().Message()
	assert.Equal(t, "Background shell commands from an earlier session were never accounted for.", firstLine(m.Text))
	for _, said := range []string{
		"Session ses_old ", "\nwork_id: wrk_1\nbinary: /bin/sh\ncommand: make\ndetached_at_ms: 17\n",
		"\nwork_id: wrk_2\nbinary: /bin/sh\ncommand: make -j\ndetached_at_ms: 18\n", "unknown", "neither as succeeded nor as failed",
	} {
		assert.Contains(t, m.Text, said)
	}
	for _, absent := range []string{"exit_code:", "status:", "output:"} {
		assert.NotContains(t, m.Text, absent)
	}
	assert.Equal(t, "detached_lost", m.Source)
	assert.Equal(t, "ctx_new", m.ContextID)
	assert.True(t, ids.Task.Valid(m.TaskID))
}

func TestLostReport_HasTheLowestTrust(t *testing.T) {
	pair := func(origin, trust string) trace.Loss { return trace.Loss{Origin: origin, Trust: trust} }
	cases := []struct {
		losses []trace.Loss
		want   string
	}{
		{[]trace.Loss{pair("user", "trusted"), pair("completion", "trusted")}, "completion/trusted"},
		{[]trace.Loss{pair("user", "trusted"), pair("event", "untrusted")}, "completion/untrusted"},
		{[]trace.Loss{pair("user", "trusted"), pair("", "")}, "completion/untrusted"},
		{[]trace.Loss{pair("event", "trusted")}, "completion/untrusted"},
		{[]trace.Loss{pair("king", "trusted")}, "completion/untrusted"},
		{nil, "completion/untrusted"},
	}
	for _, c := range cases {
		report := detach.NewLostReport(trace.SessionLosses{Session: "ses_1", Losses: c.losses}, "ctx_1")
		assert.Equal(t, c.want, report.Message().Provenance.String(), "%v", c.losses)
	}
}

func TestReportLost_WritesOffThenReports(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"event_type":"shell_deta`), 0o600))
	old, err := trace.Open(path, "ses_old", trace.Options{})
	require.NoError(t, err)
	defer old.Close()
	r, report := detach.NewRegistry(), lostReport()
	require.NoError(t, r.ReportLost(old, report, "ses_new"))

	events, _, err := trace.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, events, 2)
	for i, e := range events {
		e.Timestamp = 0
		assert.Equal(t, trace.Event{
			Type: trace.ShellLost, SessionID: "ses_old", WorkID: report.Works[i].WorkID, Binary: "/bin/sh",
			Command: report.Works[i].Command, DetachedAtMS: trace.Int(report.Works[i].DetachedAtMS),
			ReconciledBySession: "ses_new", ReconciledTaskID: report.TaskID,
		}, e)
	}
	got, err := r.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, report, got)
}

func TestReportLost_NothingIsReportedThatCouldNotBeWrittenOff(t *testing.T) {
	old, err := trace.Open(filepath.Join(t.TempDir(), "trace.jsonl"), "ses_old", trace.Options{})
	require.NoError(t, err)
	require.NoError(t, old.Close())
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		assert.ErrorContains(t, r.ReportLost(old, lostReport(), "ses_new"), "cannot write off wrk_1")
		assert.ErrorContains(t, r.ReportLost(old, detach.LostReport{Session: "ses_old"}, "ses_new"), "ses_old")
		requireNoReport(t, r)
	})
}

func TestEvents(t *testing.T) {
	n := trace.Int[int]
	cases := map[string]struct{ got, want trace.Event }{
		"detached": {work("wrk_1").Event(), trace.Event{
			Type: trace.ShellDetached, TaskID: "tsk_1", WorkID: "wrk_1", Binary: "/usr/bin/bash", Command: "sleep 45; echo done", GraceMS: n(1000),
		}},
		"completed": {completed("wrk_1", shell.Exit{Code: 137, Limit: "memory"}).Event("tsk_2"), trace.Event{
			Type: trace.ShellCompleted, WorkID: "wrk_1", Binary: "/usr/bin/bash", Command: "sleep 45; echo done", ExitCode: n(137),
			DurationMS: n(2014), OutputPath: "logs/wrk_1.log", OutputBytes: n(91), ResourceLimit: "memory", Status: "error", CompletionTaskID: "tsk_2",
		}},
		"abandoned": {stillRunning("wrk_1", 12).Event(), trace.Event{
			Type: trace.ShellAbandoned, WorkID: "wrk_1", Binary: "/usr/bin/bash", Command: "sleep 45; echo done", RunningMS: n(12),
		}},
		"finished too late": {tooLate("wrk_1", shell.Exit{Code: 3}).Event(), trace.Event{
			Type: trace.ShellAbandoned, WorkID: "wrk_1", Binary: "/usr/bin/bash", Command: "sleep 45; echo done", RunningMS: n(2014),
			ExitCode: n(3), OutputPath: "logs/wrk_1.log", OutputBytes: n(91),
		}},
		"carried": {detach.Remnant{Work: work("wrk_1"), Durable: true}.Event(), trace.Event{
			Type: trace.ShellCarried, WorkID: "wrk_1", Binary: "/usr/bin/bash", Command: "sleep 45; echo done", RunningMS: n(0),
		}},
	}
	for name, c := range cases {
		assert.Equal(t, c.want, c.got, name)
	}
	unwritten := completed("wrk_1", shell.Exit{})
	unwritten.Log = detach.Log{Err: os.ErrPermission}
	e := unwritten.Event("tsk_2")
	assert.Equal(t, "logs/wrk_1.log", e.OutputPath)
	assert.EqualValues(t, 0, *e.OutputBytes)
	assert.False(t, strings.Contains(e.OutputPath, "\x00"))
}
