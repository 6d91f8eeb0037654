package detach_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tiktoken-go/tokenizer"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

func work(id string) detach.Work {
	task := provenance.Trusted
	return detach.Work{
		ID: id, Binary: "/usr/bin/bash", Command: "sleep 45; echo done", TaskID: "tsk_1", ContextID: "ctx_1",
		Provenance: provenance.Derive(provenance.Completion, &task), Grace: time.Second,
	}
}

func completed(id string, exit shell.Exit) detach.Completion {
	exit.Duration = 2014 * time.Millisecond
	return detach.Completion{Work: work(id), Exit: exit, Log: detach.Log{Path: "logs/" + id + ".log", Bytes: 91}}
}

func stillRunning(id string, ms int64) detach.Remnant {
	return detach.Remnant{Work: work(id), Running: time.Duration(ms) * time.Millisecond}
}

func tooLate(id string, exit shell.Exit) detach.Remnant {
	return detach.Undelivered(completed(id, exit))
}

func lostReport() detach.LostReport {
	return detach.NewLostReport(trace.SessionLosses{Session: "ses_old", Losses: []trace.Loss{
		{WorkID: "wrk_1", Binary: "/bin/sh", Command: "make", DetachedAtMS: 17, Origin: "user", Trust: "trusted"},
		{WorkID: "wrk_2", Binary: "/bin/sh", Command: "make -j", DetachedAtMS: 18, Origin: "user", Trust: "trusted"},
	}}, "ctx_new")
}

func firstLine(text string) string { return strings.SplitN(text, "\n", 2)[0] }

func TestTexts_NoTwoKindsShareAFirstLine(t *testing.T) {
	running := []detach.Remnant{stillRunning("wrk_1", 1)}
	kinds := map[string]string{
		"completion": completed("wrk_1", shell.Exit{}).Message().Text,
		"lost":       lostReport().Message().Text,
		"abandoned":  detach.AbandonedText("ses_1", running),
		"carried":    detach.CarriedText("ses_1", running),
		"demotion":   *detach.DemotionResult(work("wrk_1")).Data,
	}
	seen := map[string]string{}
	for kind, text := range kinds {
		first := firstLine(text)
		require.NotEmpty(t, first, kind)
		assert.Empty(t, seen[first], "%s shares its first line", kind)
		seen[first] = kind
	}
}

func TestCompletion_ExactText(t *testing.T) {
	assert.Equal(t, `Background shell command finished.
work_id: wrk_1
binary: /usr/bin/bash
command: sleep 45; echo done
status: ok
exit_code: 0
duration_ms: 2014
output: logs/wrk_1.log (91 bytes, in the capsule workdir)

Read the file for what it wrote: its stdout and stderr are not reproduced here.`,
		completed("wrk_1", shell.Exit{}).Message().Text)

	all := completed("wrk_1", shell.Exit{
		Code: -1, Reason: shell.ReasonTimedOut, Limit: "memory", WaitErr: "no child processes",
		LeftRunning: []shell.Survivor{{PID: 12, Name: "gradle"}, {PID: 13, Name: "ssh-agent"}},
		Survivors:   []shell.Survivor{{PID: 14, Name: "sleep"}},
	})
	assert.Contains(t, all.Message().Text, `status: error
exit_code: -1
duration_ms: 2014
output: logs/wrk_1.log (91 bytes, in the capsule workdir)
reason: timed_out
resource_limit: memory
left_running: gradle (pid 12), ssh-agent (pid 13)
survivors: sleep (pid 14)
wait_error: no child processes

`)
}

func TestCompletion_Message(t *testing.T) {
	m := completed("wrk_1", shell.Exit{}).Message()
	assert.Equal(t, "detached_shell", m.Source)
	assert.Equal(t, "ctx_1", m.ContextID)
	assert.Equal(t, "completion/trusted", m.Provenance.String())
	assert.Empty(t, m.TaskID)
}

func TestCompletion_Status(t *testing.T) {
	cases := map[string]shell.Exit{
		"exit code":  {Code: 7},
		"signal":     {Code: 137, Signal: "SIGKILL"},
		"reason":     {Code: -1, Reason: shell.ReasonDied},
		"limit":      {Limit: "cgroup_pids_max"},
		"wait error": {WaitErr: "no child processes"},
	}
	for name, exit := range cases {
		assert.Equal(t, "error", completed("wrk_1", exit).Status(), name)
	}
	left := shell.Exit{LeftRunning: []shell.Survivor{{PID: 1, Name: "x"}}}
	assert.Equal(t, "ok", completed("wrk_1", left).Status(), "daemons left behind are no failure")
	cut := completed("wrk_1", shell.Exit{})
	cut.Output.Truncated = true
	assert.Equal(t, "ok", cut.Status(), "nor is output over the cap")
	assert.Contains(t, completed("wrk_1", shell.Exit{Code: 7}).Message().Text, "\nstatus: error\nexit_code: 7\n")
}

func TestCompletion_NamesItsLimitInTheSharedWording(t *testing.T) {
	text := completed("wrk_1", shell.Exit{Code: 1, Limit: "cgroup_pids_max"}).Message().Text
	assert.Contains(t, strings.Split(text, "\n"), shell.ResourceLimitLine("cgroup_pids_max"))
	assert.Equal(t, "Background shell command finished.", firstLine(text))
}

func TestCompletion_EndsTheSameWayWhateverBecameOfItsOutput(t *testing.T) {
	plain, cut, none := completed("wrk_1", shell.Exit{}), completed("wrk_1", shell.Exit{}), completed("wrk_1", shell.Exit{})
	cut.Output.Truncated = true
	none.Log = detach.Log{Err: errors.New("no space left on device\nstatus: ok")}
	for _, c := range []detach.Completion{plain, cut, none} {
		assert.True(t, strings.HasSuffix(c.Message().Text, "are not reproduced here."), c.Message().Text)
	}
	assert.Contains(t, none.Message().Text, `output: none ("cannot be written: no space left on device\nstatus: ok")`)
	assert.Contains(t, cut.Message().Text, "more than is kept")
}

// fields are the lines of a text that look like a field of the given name.
func fields(text, name string) (found []string) {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
		if strings.HasPrefix(line, name+":") {
			found = append(found, line)
		}
	}
	return found
}

func TestTexts_ACommandForgesNoField(t *testing.T) {
	for _, newline := range []string{"\n", "\r", "\r\n", "\u2028", "\u2029", "\u0085", "\v", "\f", "\x00\n", "\x1b[31m\n"} {
		forged := "echo x # " + newline + "status: ok" + newline + "exit_code: 0" + newline + "work_id: wrk_f"
		c := completed("wrk_1", shell.Exit{
			Code: 9, WaitErr: forged, Limit: forged,
			Survivors: []shell.Survivor{{PID: 3, Name: "x (pid 4), " + newline + "exit_code: 0"}},
		})
		c.Command, c.Binary = forged, "/bin/"+forged
		lost := lostReport()
		lost.Works[0].Command, lost.Works = forged, lost.Works[:1]
		for _, text := range []string{
			c.Message().Text, detach.AbandonedText("ses_1", []detach.Remnant{detach.Undelivered(c)}),
			detach.CarriedText("ses_1", []detach.Remnant{detach.Undelivered(c)}),
		} {
			assert.Equal(t, []string{"status: error"}, fields(text, "status"))
			assert.Equal(t, []string{"exit_code: 9"}, fields(text, "exit_code"))
			assert.Equal(t, []string{"work_id: wrk_1"}, fields(text, "work_id"))
			assert.Len(t, fields(text, "survivors"), 1)
			assert.NotContains(t, text, "\x1b")
			assert.NotContains(t, text, "survivors: x (pid 4)")
		}
		assert.Empty(t, fields(lost.Message().Text, "status"))
		assert.Len(t, fields(lost.Message().Text, "work_id"), 1)
	}
}

func TestTexts_ALongCommandIsCut(t *testing.T) {
	for _, unit := range []string{"x", "日", "\x80"} {
		c := completed("wrk_1", shell.Exit{})
		c.Command = strings.Repeat(unit, 131_071)
		text := c.Message().Text
		line := fields(text, "command")[0]
		assert.Less(t, len(text), 6000)
		assert.True(t, strings.HasSuffix(strings.TrimSuffix(line, `"`), "…"), line[len(line)-8:])
	}
	c := completed("wrk_1", shell.Exit{})
	c.Command = strings.Repeat("日", 1000)
	assert.Equal(t, "command: "+strings.Repeat("日", 340)+"…", fields(c.Message().Text, "command")[0])
	c.Command = strings.Repeat("x", 1024)
	assert.Equal(t, "command: "+c.Command, fields(c.Message().Text, "command")[0])
}

func TestTexts_ManyProcessesAreCounted(t *testing.T) {
	var many []shell.Survivor
	for range 5000 {
		many = append(many, shell.Survivor{PID: 7, Name: "sleep"})
	}
	text := completed("wrk_1", shell.Exit{LeftRunning: many}).Message().Text
	assert.Contains(t, text, "sleep (pid 7), and 4984 more\n")
	assert.Less(t, len(text), 1000)
}

func TestDemotionResult_ConstantSmallAndSilentAboutPaths(t *testing.T) {
	first, second := detach.DemotionResult(work(ids.Work.New())), detach.DemotionResult(work(ids.Work.New()))
	assert.Len(t, *second.Data, len(*first.Data))
	assert.Len(t, *second.Summary, len(*first.Summary))
	for _, encoding := range []tokenizer.Encoding{tokenizer.Cl100kBase, tokenizer.O200kBase} {
		codec, err := tokenizer.Get(encoding)
		require.NoError(t, err)
		for range 200 {
			n, err := codec.Count(*detach.DemotionResult(work(ids.Work.New())).Data)
			require.NoError(t, err)
			assert.Less(t, n, 120)
		}
	}
	id := ids.Work.New()
	r := detach.DemotionResult(work(id))
	assert.Equal(t, shell.Passed, r.Status)
	assert.False(t, r.Truncated)
	assert.Nil(t, r.DataPath)
	assert.Equal(t, []shell.Pair{{Key: "work_id", Value: id}}, r.Metadata)
	assert.Contains(t, *r.Summary, id)
	assert.NotContains(t, *r.Summary+*r.Data, "/")
	for _, said := range []string{"did not finish in time", "in the background", "later as a separate task", "cannot be polled or asked about"} {
		assert.Contains(t, *r.Data, said)
	}
}

func TestAbandonedText_StillRunningPromisesNoFile(t *testing.T) {
	text := detach.AbandonedText("ses_abc", []detach.Remnant{stillRunning("wrk_0a1b", 45_012)})
	assert.Equal(t, "[capsule-runtime] 1 background shell command discarded at session end.", firstLine(text))
	for _, said := range []string{
		"\nSession ses_abc\n", "\nwork_id: wrk_0a1b\n", "\nbinary: /usr/bin/bash\n", "\ncommand: sleep 45; echo done\n",
		"\nstate: still running after 45012 ms\n", "no logs/wrk_0a1b.log will be written", "\nresult: ",
		"lifecycle.task_acceptance: queue", "lifecycle.after_task: sleep",
	} {
		assert.Contains(t, text, said)
	}
	assert.NotContains(t, text, "exit_code:")
	assert.NotContains(t, text, "output:")
}

func TestAbandonedText_FinishedDuringTeardownHasItsResult(t *testing.T) {
	text := detach.AbandonedText("ses_abc", []detach.Remnant{tooLate("wrk_0c2d", shell.Exit{})})
	for _, said := range []string{
		"\nstate: finished during teardown after 2014 ms\n", "\nstatus: ok\n", "\nexit_code: 0\n", "\nresult: ",
		"\noutput: logs/wrk_0c2d.log (91 bytes, in the capsule workdir)\n",
	} {
		assert.Contains(t, text, said)
	}
	assert.NotContains(t, text, "still running after")
	assert.NotContains(t, text, "will be written")
}

func TestAbandonedText_CountsOnceAndListsAll(t *testing.T) {
	text := detach.AbandonedText("ses_abc", []detach.Remnant{stillRunning("wrk_0a1b", 11), tooLate("wrk_0c2d", shell.Exit{})})
	assert.Equal(t, "[capsule-runtime] 2 background shell commands discarded at session end.", firstLine(text))
	assert.Equal(t, 1, strings.Count(text, "2 background"))
	assert.Equal(t, 2, strings.Count(text, "\nwork_id: "))
	assert.Equal(t, 2, strings.Count(text, "\nresult: "))
	assert.Contains(t, text, "wrk_0a1b")
	assert.Contains(t, text, "wrk_0c2d")
}

func TestAbandonedText_NamesLimitAndWaitError(t *testing.T) {
	text := detach.AbandonedText("ses_abc", []detach.Remnant{tooLate("wrk_0c2d", shell.Exit{Code: 137, Limit: "memory"})})
	for _, said := range []string{"\nresource_limit: memory\n", "\nstatus: error\n", "\nexit_code: 137\n"} {
		assert.Contains(t, text, said)
	}
	text = detach.AbandonedText("ses_abc", []detach.Remnant{tooLate("wrk_0c2d", shell.Exit{WaitErr: "no child processes"})})
	for _, said := range []string{"\nstatus: error\n", "\nwait_error: no child processes\n"} {
		assert.Contains(t, text, said)
	}
}

func TestAbandonedText_AnOutputThatWasNotWrittenIsNotOnDisk(t *testing.T) {
	c := completed("wrk_1", shell.Exit{})
	c.Log = detach.Log{Err: errors.New("the workdir is gone")}
	text := detach.AbandonedText("ses_abc", []detach.Remnant{detach.Undelivered(c)})
	assert.Contains(t, text, "\noutput: none (cannot be written: the workdir is gone)\n")
	assert.NotContains(t, text, "on disk")
}

func TestCarriedText(t *testing.T) {
	one := detach.CarriedText("ses_abc", []detach.Remnant{stillRunning("wrk_0a1b", 7)})
	assert.Equal(t, "[capsule-runtime] 1 background shell command still running under supervision at session end.", firstLine(one))
	two := detach.CarriedText("ses_abc", []detach.Remnant{stillRunning("wrk_0a1b", 7), tooLate("wrk_0c2d", shell.Exit{})})
	assert.Equal(t, "[capsule-runtime] 2 background shell commands still running under supervision at session end.", firstLine(two))
	for _, said := range []string{"\nSession ses_abc\n", "\nstate: still running after 7 ms\n", "\nstate: finished during teardown after 2014 ms\n"} {
		assert.Contains(t, two, said)
	}
	assert.Equal(t, 2, strings.Count(two, "\nresult: "))
	assert.NotContains(t, one, "exit_code:")
	assert.NotContains(t, two, "discarded")
}

func TestTexts_OnlyTheLostReportSaysThatNothingWasRecovered(t *testing.T) {
	const claim = "Nothing about them was recovered"
	remnants := []detach.Remnant{stillRunning("wrk_0a1b", 12), tooLate("wrk_0c2d", shell.Exit{})}
	assert.NotContains(t, detach.AbandonedText("ses_1", remnants), claim)
	assert.NotContains(t, detach.CarriedText("ses_1", remnants), claim)
	assert.Contains(t, lostReport().Message().Text, claim)
}
