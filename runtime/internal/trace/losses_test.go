package trace_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// traces are the trace texts by session.
type traces map[string]string

func (t traces) open(session string) (io.ReadCloser, error) {
	text, ok := t[session]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

const (
	startTrusted = `{"event_type":"task_start","task_id":"tsk_u","origin":"user","trust":"trusted"}`
	startEvent   = `{"event_type":"task_start","task_id":"tsk_e","origin":"event","trust":"untrusted"}`
)

func detached(work, task string) string {
	return `{"event_type":"shell_detached","timestamp":5,"work_id":"` + work + `","task_id":"` + task + `","binary":"/bin/sh","command":"c"}`
}

func event(kind, work string) string {
	return `{"event_type":"` + kind + `","work_id":"` + work + `"}`
}

func lost(work, session, task string) string {
	return `{"event_type":"shell_lost","work_id":"` + work + `","reconciled_by_session":"` + session + `","reconciled_task_id":"` + task + `"}`
}

func taskEnd(task, status string) string {
	return `{"event_type":"task_end","task_id":"` + task + `","exit_status":"` + status + `"}`
}

func resumed(from string) string {
	return `{"event_type":"session_start","resumed_from":"` + from + `"}`
}

func lossIDs(t *testing.T, all traces, session string) (found []string) {
	t.Helper()
	sessions, err := trace.Losses(session, all.open)
	require.NoError(t, err)
	for _, s := range sessions {
		for _, loss := range s.Losses {
			found = append(found, s.Session+" "+loss.WorkID)
		}
	}
	return found
}

func TestLosses_WhatNothingAccountsFor(t *testing.T) {
	all := traces{"ses_1": lines(
		startTrusted, startEvent,
		detached("wrk_done", "tsk_u"), detached("wrk_gone", "tsk_u"), detached("wrk_carried", "tsk_u"),
		detached("wrk_1", "tsk_u"), detached("wrk_2", "tsk_e"), detached("wrk_3", "tsk_unknown"), detached("wrk_4", ""),
		detached("wrk_1", "tsk_u"),
		event("shell_completed", "wrk_done"), event("shell_abandoned", "wrk_gone"), event("shell_carried", "wrk_carried"),
	)}
	sessions, err := trace.Losses("ses_1", all.open)
	require.NoError(t, err)
	loss := func(work, origin, trust string) trace.Loss {
		return trace.Loss{WorkID: work, Binary: "/bin/sh", Command: "c", DetachedAtMS: 5, Origin: origin, Trust: trust}
	}
	assert.Equal(t, []trace.SessionLosses{{Session: "ses_1", Losses: []trace.Loss{
		loss("wrk_1", "user", "trusted"), loss("wrk_2", "event", "untrusted"), loss("wrk_3", "", ""), loss("wrk_4", "", ""),
	}}}, sessions)
}

func TestLosses_ACompletionMayStandBeforeTheDemotion(t *testing.T) {
	all := traces{"ses_1": lines(event("shell_completed", "wrk_1"), detached("wrk_1", "tsk_u"))}
	assert.Empty(t, lossIDs(t, all, "ses_1"))
}

func TestLosses_TornAndCorruptLinesAreTolerated(t *testing.T) {
	all := traces{"ses_1": "\x00\x00\n" + startTrusted + "\n{{{\n" + detached("wrk_1", "tsk_u") + "\n" + `{"event_type":"shell_compl`}
	assert.Equal(t, []string{"ses_1 wrk_1"}, lossIDs(t, all, "ses_1"))
}

func TestLosses_TasksThatDoNotAgreeAreUnknown(t *testing.T) {
	forged := strings.Replace(startEvent, "tsk_e", "tsk_u", 1)
	for _, all := range []traces{
		{"ses_2": lines(startTrusted, forged, detached("wrk_1", "tsk_u"))},
		{"ses_2": lines(resumed("ses_1"), forged, detached("wrk_1", "tsk_u")), "ses_1": lines(startTrusted)},
	} {
		sessions, err := trace.Losses("ses_2", all.open)
		require.NoError(t, err)
		assert.Empty(t, sessions[0].Losses[0].Trust)
	}
}

func TestLosses_AReportCountsOnlyOnceTaken(t *testing.T) {
	old := lines(startTrusted, detached("wrk_1", "tsk_u"), lost("wrk_1", "ses_2", "tsk_r"))
	cases := []struct {
		name  string
		all   traces
		start string
		want  []string
	}{
		{"taken", traces{"ses_1": old, "ses_2": lines(resumed("ses_1"), taskEnd("tsk_r", "ok"))}, "ses_1", nil},
		{"answered with an error", traces{"ses_1": old, "ses_2": lines(taskEnd("tsk_r", "error"))}, "ses_1", nil},
		{"trapped", traces{"ses_1": old, "ses_2": lines(taskEnd("tsk_r", "trap"))}, "ses_1", []string{"ses_1 wrk_1"}},
		{"never run", traces{"ses_1": old, "ses_2": lines(resumed("ses_1"))}, "ses_1", []string{"ses_1 wrk_1"}},
		{"never run, resumed from there", traces{"ses_1": old, "ses_2": lines(resumed("ses_1"))}, "ses_2", []string{"ses_1 wrk_1"}},
		{"taken, resumed from there", traces{"ses_1": old, "ses_2": lines(resumed("ses_1"), taskEnd("tsk_r", "ok"))}, "ses_2", nil},
		{"its session is no more", traces{"ses_1": old}, "ses_1", []string{"ses_1 wrk_1"}},
		{
			"the second report was taken",
			traces{"ses_1": old + lost("wrk_1", "ses_3", "tsk_s"), "ses_3": lines(taskEnd("tsk_s", "ok"))}, "ses_1", nil,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, lossIDs(t, c.all, c.start)) })
	}
}

func TestLosses_ReportedBefore(t *testing.T) {
	all := traces{"ses_1": lines(
		detached("wrk_1", ""), detached("wrk_2", ""), lost("wrk_2", "ses_2", "tsk_r"),
	)}
	sessions, err := trace.Losses("ses_1", all.open)
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	require.Len(t, sessions[0].Losses, 2)
	assert.False(t, sessions[0].Losses[0].Reported)
	assert.True(t, sessions[0].Losses[1].Reported, "whether a guest has seen it, nobody can tell")
}

func TestLosses_FollowsTheChainOfResumes(t *testing.T) {
	all := traces{
		"ses_1": lines(detached("wrk_1", ""), detached("wrk_over", "")),
		"ses_2": lines(resumed("ses_1"), detached("wrk_2", ""), event("shell_completed", "wrk_over")),
		"ses_3": lines(resumed("ses_2"), detached("wrk_3", "")),
	}
	assert.Equal(t, []string{"ses_1 wrk_1", "ses_2 wrk_2", "ses_3 wrk_3"}, lossIDs(t, all, "ses_3"))
}

func TestLosses_ARingAndAMissingForebearEndTheChain(t *testing.T) {
	all := traces{
		"ses_1": lines(resumed("ses_2"), detached("wrk_1", "")),
		"ses_2": lines(resumed("ses_1"), detached("wrk_2", "")),
		"ses_3": lines(resumed("ses_gone"), detached("wrk_3", "")),
	}
	assert.Equal(t, []string{"ses_1 wrk_1", "ses_2 wrk_2"}, lossIDs(t, all, "ses_2"))
	assert.Equal(t, []string{"ses_3 wrk_3"}, lossIDs(t, all, "ses_3"))
	assert.Empty(t, lossIDs(t, all, "ses_none"))
}

func TestLosses_FailuresAreToldWithWhatWasFound(t *testing.T) {
	denied := errors.New("permission denied")
	all := traces{"ses_1": lines(resumed("ses_0"), detached("wrk_1", ""), detached("wrk_2", ""), lost("wrk_2", "ses_0", "tsk_1"))}
	for _, old := range []struct {
		file io.ReadCloser
		err  error
	}{{nil, denied}, {io.NopCloser(iotest.ErrReader(denied)), nil}} {
		sessions, err := trace.Losses("ses_1", func(session string) (io.ReadCloser, error) {
			if session == "ses_0" {
				return old.file, old.err
			}
			return all.open(session)
		})
		assert.ErrorIs(t, err, denied)
		require.Len(t, sessions, 1)
		assert.Len(t, sessions[0].Losses, 2)
	}
}
