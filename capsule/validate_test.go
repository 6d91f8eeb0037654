package capsule_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/murmur-capsule/murmur/capsule"
)

// A manifest that a program makes goes by the same rules as a file.
func TestValidate_withoutFile(t *testing.T) {
	valid := func() capsule.Manifest {
		m := capsule.Default()
		m.Name, m.Guest.Path = "x", "x.wasm"
		return m
	}
	for _, tt := range []struct {
		name   string
		change func(*capsule.Manifest)
		want   string
	}{
		{"version", func(m *capsule.Manifest) { m.Version = "" }, `version: up to 64 letters, digits, '.', '-' and '+', got ""`},
		{"path", func(m *capsule.Manifest) { m.Guest.Path = ".." }, `guest.path: a path inside the manifest's folder, got ".."`},
		{"compute", func(m *capsule.Manifest) { m.Guest.Compute = -time.Second }, "guest.compute_secs: more than 0, up to 86400, got -1"},
		{"grace", func(m *capsule.Manifest) { m.Lifecycle.ShellGraceSecs = math.NaN() }, "lifecycle.shell_grace_secs: from 0 to 86400, got NaN"},
		{"acceptance", func(m *capsule.Manifest) { m.Lifecycle.TaskAcceptance = "" }, `lifecycle.task_acceptance: one of none, single, queue, got ""`},
		{"the runtime's own in env", func(m *capsule.Manifest) { m.Guest.Env = map[string]string{"MURMUR_TASK_TRUST": "trusted"} }, `guest.env: names that begin with MURMUR_TASK_ are the runtime's own, got "MURMUR_TASK_TRUST"`},
		{"NUL in env", func(m *capsule.Manifest) { m.Guest.Env = map[string]string{"A": "\x00"} }, "guest.env.A: it contains a NUL byte"},
		{"NUL in path", func(m *capsule.Manifest) { m.Guest.Path = "a\x00" }, "guest.path: it contains a NUL byte"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := valid()
			assert.NoError(t, m.Validate())
			tt.change(&m)
			assert.EqualError(t, m.Validate(), tt.want)
		})
	}
}

func TestWarnings(t *testing.T) {
	never := "a command that is demoted can never report back"
	for _, tt := range []struct {
		name              string
		acceptance, after string
		detach            bool
		allow             []string
		want              []string
	}{
		{"single", "single", "exit", true, []string{"bash"}, []string{never}},
		{"queue and exit", "queue", "exit", true, []string{"bash"}, []string{never}},
		{"queue and sleep", "queue", "sleep", true, []string{"bash"}, nil},
		{"nothing is demoted", "single", "exit", false, []string{"bash"}, nil},
		{"no commands", "single", "exit", true, nil, []string{"capabilities.shell.allow is empty"}},
		{"no tasks", "none", "exit", true, []string{"bash"}, []string{"lifecycle.task_acceptance: none"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := capsule.Default()
			m.Capabilities.Shell.Allow = tt.allow
			m.Lifecycle.TaskAcceptance, m.Lifecycle.AfterTask = tt.acceptance, tt.after
			m.Lifecycle.ShellDetach = tt.detach
			got := m.Warnings()
			if assert.Len(t, got, len(tt.want)) {
				for i := range got {
					assert.Contains(t, got[i], tt.want[i])
				}
			}
		})
	}
}
