package detach

import "github.com/murmur-capsule/murmur/runtime/internal/shell"

// AbandonedText reports to the operator the works that a session's end
// discards.
func AbandonedText(session string, discarded []Remnant) string {
	var t text
	t.line("[capsule-runtime] %s discarded at session end.", commands(len(discarded)))
	t.line("")
	t.line("Session %s", shell.Quote(session))
	t.line("The session is over, and no task is left that could bring back what follows. " +
		"It waited for none of it and ended none of it.")
	for _, r := range discarded {
		t.line("")
		t.work(r.ID, r.Binary, r.Command)
		t.abandoned(r)
	}
	t.WriteString("\nA command that still runs goes on with nobody to read its output. " +
		"To be told of such a command, keep the session: lifecycle.task_acceptance: queue with lifecycle.after_task: sleep.")
	return t.String()
}

func (t *text) abandoned(r Remnant) {
	if r.Finished == nil {
		t.stillRunning(r)
		t.line("result: none so far, and no %s will be written: what writes it ends with the session.", r.LogPath())
		return
	}
	t.finished(*r.Finished)
	if r.Finished.Log.Err != nil {
		t.line("result: the lines above are all of it, its output did not reach the workdir.")
		return
	}
	t.line("result: the lines above and the output on disk; it came too late to be told to the guest.")
}

// CarriedText reports to the operator the works that go on under supervision
// when a session ends.
func CarriedText(session string, carried []Remnant) string {
	var t text
	t.line("[capsule-runtime] %s still running under supervision at session end.", commands(len(carried)))
	t.line("")
	t.line("Session %s", shell.Quote(session))
	t.line("The session is over, its supervisor stays with what follows.")
	for _, r := range carried {
		t.line("")
		t.work(r.ID, r.Binary, r.Command)
		if r.Finished == nil {
			t.stillRunning(r)
		} else {
			t.finished(*r.Finished)
		}
		t.line("result: owed to the next session of the same capsule, owner and workdir.")
	}
	return t.String()
}

func (t *text) stillRunning(r Remnant) {
	t.line("state: still running after %d ms", r.Running.Milliseconds())
}

func (t *text) finished(c Completion) {
	t.line("state: finished during teardown after %d ms", c.Exit.Duration.Milliseconds())
	t.field("status", c.Status())
	t.line("exit_code: %d", c.Exit.Code)
	t.circumstances(c.Exit)
	t.output(c.Log)
}
