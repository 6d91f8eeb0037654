package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/murmur-capsule/murmur/runtime"
)

func n(v int64) *int64 { return &v }

func shown(s style, events ...runtime.Event) string {
	var b strings.Builder
	line := &timeline{w: &b, style: s}
	for _, e := range events {
		line.show(e)
	}
	return b.String()
}

func TestTimeline_EveryEvent(t *testing.T) {
	const (
		work = "wrk_01a22a2b295075cc8a83aea557921bef"
		task = "tsk_01a22a2b25637613ab10900ec9198711"
	)
	events := []runtime.Event{
		{Type: "session_start", Timestamp: 1000, SessionID: "ses_1", Capsule: "runner", Version: "0.1.0", Workdir: "/w", ResumedFrom: "ses_0"},
		{Type: "task_start", Timestamp: 1010, TaskID: task, Source: "cli", Origin: "user", Trust: "trusted", MessageBytes: n(1), Repeated: true},
		{Type: "shell", Timestamp: 1020, TaskID: task, Binary: "/bin/bash", Command: "x", ExitCode: n(3), DurationMS: n(5), StdoutBytes: n(1), StderrBytes: n(2), ResourceLimit: "memory"},
		{Type: "shell_detached", Timestamp: 2020, TaskID: task, WorkID: work, Binary: "/bin/bash", Command: "y", GraceMS: n(1000)},
		{Type: "task_end", Timestamp: 2030, TaskID: task, ExitStatus: "ok", DurationMS: n(1020), ShellCalls: n(2)},
		{Type: "shell_completed", Timestamp: 3030, WorkID: work, ExitCode: n(-1), Status: "error", Reason: "timed_out", DurationMS: n(61000), OutputPath: "logs/w.log", OutputBytes: n(9)},
		{Type: "shell_followed_up", Timestamp: 3030, WorkID: work, CompletionTaskID: task, Attempt: n(2)},
		{Type: "shell_abandoned", Timestamp: 3030, WorkID: work, Binary: "bash", Command: "z", RunningMS: n(12)},
		{Type: "shell_abandoned", Timestamp: 3030, WorkID: work, Binary: "bash", Command: "z", RunningMS: n(12), ExitCode: n(0)},
		{Type: "shell_carried", Timestamp: 3030, WorkID: work, Binary: "bash", Command: "z", RunningMS: n(12)},
		{Type: "shell_lost", Timestamp: 3030, WorkID: work, Binary: "bash", Command: "z", ReconciledBySession: "ses_2"},
		{Type: "session_end", Timestamp: 61000, ExitStatus: "error", Tasks: n(1), TasksFailed: n(0), Detached: n(2), Outstanding: n(3)},
		{Type: "of_tomorrow", Timestamp: 61000},
	}
	assert.Equal(t, `    +0.00s  session                  runner 0.1.0, session ses_1 in /w, resumed from ses_0
    +0.01s  task        tsk_c9198711 user trusted · from cli, 1 byte · repeated
    +0.02s  command     tsk_c9198711 bash · x · exit 3 after 5ms, limit memory, 1+2 bytes
    +1.02s  demoted     wrk_57921bef bash · y · after a grace of 1s
    +1.03s  task end    tsk_c9198711 ok after 1.02s, 2 commands
    +2.03s  completed   wrk_57921bef exit -1 after 1m1s, timed_out · logs/w.log (9 bytes)
    +2.03s  followed up wrk_57921bef by tsk_c9198711, attempt 2
    +2.03s  abandoned   wrk_57921bef bash · z · still running after 12ms
    +2.03s  abandoned   wrk_57921bef bash · z · exit 0 after 12ms, too late to be told
    +2.03s  carried     wrk_57921bef bash · z · outlived the session, 12ms so far
    +2.03s  lost        wrk_57921bef bash · z · told to ses_2
   +60.00s  session end              1 task, 0 failed, 2 commands demoted, 3 outstanding
   +60.00s  of_tomorrow              
`, shown(style{}, events...))
}

func TestTimeline_ColoursOnlyWhereAsked(t *testing.T) {
	e := runtime.Event{Type: "task_end", ExitStatus: "trap", TaskID: "tsk_1"}
	assert.NotContains(t, shown(style{terminal: true}, e), "\x1b")
	assert.Contains(t, shown(style{terminal: true, colour: true}, e), "\x1b[31mtask end   \x1b[0m")
}

func TestTimeline_NothingActsOnTheTerminal(t *testing.T) {
	hostile := "a\x1b]0;t\x07\r\n\u202e\x00\xff b"
	text := shown(style{},
		runtime.Event{Type: "shell", TaskID: hostile, Binary: "/bin/" + hostile, Command: hostile, Reason: hostile, ResourceLimit: hostile},
		runtime.Event{Type: "task_start", TaskID: hostile, Source: hostile, Origin: hostile, Trust: hostile},
		runtime.Event{Type: "session_start", Capsule: hostile, Version: hostile, Workdir: hostile, SessionID: hostile, ResumedFrom: hostile},
		runtime.Event{Type: "shell_lost", WorkID: hostile, ReconciledBySession: hostile},
		runtime.Event{Type: hostile},
	)
	assert.Equal(t, 5, strings.Count(text, "\n"))
	for _, bad := range []string{"\x1b", "\x07", "\r", "\u202e", "\x00", "\xff"} {
		assert.NotContains(t, text, bad)
	}
}

func TestTimeline_LongCommandsAreCut(t *testing.T) {
	text := shown(style{}, runtime.Event{Type: "shell", Binary: "bash", Command: strings.Repeat("日", 1000)})
	assert.Contains(t, text, strings.Repeat("日", 99)+"… ·")
}

func TestShort(t *testing.T) {
	assert.Equal(t, "wrk_57921bef", short("wrk_01a22a2b295075cc8a83aea557921bef"))
	assert.Equal(t, "ses_1", short("ses_1"))
	assert.Equal(t, "", short(""))
	assert.Equal(t, "no id at all, but long", short("no id at all, but long"))
}

func TestMeans(t *testing.T) {
	const id = "wrk_01a22a73ec747493822ae4a83a3f043b"
	for what, want := range map[string]bool{
		id: true, "wrk_01a2": true, "3f043b": true, short(id): true, "wrk_3a3f043b": true,
		"wrk_3f043b": false, "ses_3a3f043b": false, "01a2": false,
	} {
		assert.Equal(t, want, means(what, id), what)
	}
}
