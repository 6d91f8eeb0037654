package capsule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
)

const minimal = "name: x\nguest:\n  path: x.wasm\n"

func TestParse_minimalHasDefaults(t *testing.T) {
	got, err := capsule.Parse([]byte(minimal), "murmur.yaml")
	require.NoError(t, err)
	want := capsule.Default()
	want.Name, want.Guest.Path = "x", "x.wasm"
	assert.Equal(t, &want, got)
	assert.Equal(t, uint64(512<<20), got.Guest.Memory)
	assert.Equal(t, time.Minute, got.Guest.Compute)
	assert.Equal(t, 10*time.Second, got.Lifecycle.Grace())
	assert.Equal(t, time.Hour, got.Lifecycle.MaxRuntime())
	assert.Equal(t, 64, got.Lifecycle.ShellMaxRunning)
	assert.True(t, got.Lifecycle.ShellDetach)
}

func TestParse_everything(t *testing.T) {
	got, err := capsule.Parse([]byte(`
name: all-of.it_2
version: 1.2.3-rc.1+5
guest:
  path: a/b.wasm
  args: [--verbose, "5"]
  env: {A: "1", _b: ""}
  memory: 1GiB
  compute_secs: 0.5
capabilities:
  shell:
    allow: [bash, git]
    baseline_env: []
    strip_env: ["MY_*", "*_PIN", TOKEN]
    allow_env: [NODE_OPTIONS]
  containment: sealed
  require: [filesystem, memory]
  filesystem:
    read: [/opt/sdk, ~/sdk]
    write: [~/.cache/go-build]
    workdir_exec: false
  network: host
  resources:
    max_processes: 1
    max_open_files: 2
    max_file_size_bytes: 3KiB
    cpu_seconds: 4
    memory_bytes: 5GiB
    cgroup_memory_bytes: 6MiB
    cgroup_pids_max: 7
    workdir_max_bytes: 8
    max_output_bytes: 9 KiB
lifecycle:
  task_acceptance: queue
  after_task: sleep
  queue_depth: 7
  shell_grace_secs: 0
  shell_max_runtime_secs: 60
  shell_max_running: 3
  shell_detach: false
  shell_survives: false
`), "murmur.yaml")
	require.NoError(t, err)
	assert.Equal(t, &capsule.Manifest{
		Name:    "all-of.it_2",
		Version: "1.2.3-rc.1+5",
		Guest: capsule.Guest{
			Path: "a/b.wasm", Args: []string{"--verbose", "5"}, Env: map[string]string{"A": "1", "_b": ""},
			Memory: 1 << 30, Compute: 500 * time.Millisecond,
		},
		Capabilities: capsule.Capabilities{
			Shell: capsule.Shell{
				Allow: []string{"bash", "git"}, BaselineEnv: []string{}, StripEnv: []string{"MY_*", "*_PIN", "TOKEN"},
				AllowEnv: []string{"NODE_OPTIONS"},
			},
			Containment: capsule.ContainSealed,
			Require:     []string{"filesystem", "memory"},
			Filesystem:  capsule.Filesystem{Read: []string{"/opt/sdk", "~/sdk"}, Write: []string{"~/.cache/go-build"}},
			Network:     capsule.NetworkHost,
			Resources: capsule.Resources{
				MaxProcesses: 1, MaxOpenFiles: 2, MaxFileSizeBytes: 3 << 10, CPUSeconds: 4, MemoryBytes: 5 << 30,
				CgroupMemoryBytes: 6 << 20, CgroupPidsMax: 7, WorkdirMaxBytes: 8, MaxOutputBytes: 9 << 10,
			},
		},
		Lifecycle: capsule.Lifecycle{
			TaskAcceptance: "queue", AfterTask: "sleep", QueueDepth: 7,
			ShellMaxRuntimeSecs: 60, ShellMaxRunning: 3,
		},
	}, got)
}

func TestParse_values(t *testing.T) {
	guest := func(lines string) string { return minimal + "  " + lines + "\n" }
	for _, tt := range []struct {
		name, in string
		check    func(*capsule.Manifest) any
		want     any
	}{
		{"size in bytes", guest("memory: 65536"), memory, uint64(65536)},
		{"size in KiB", guest("memory: 64KiB"), memory, uint64(65536)},
		{"size with a space", guest("memory: 2 MiB"), memory, uint64(2 << 20)},
		{"largest size", guest("memory: 4GiB"), memory, uint64(4 << 30)},
		{"no compute limit", guest("compute_secs: none"), compute, time.Duration(0)},
		{"a block text", "name: x\nguest:\n  path: x.wasm\n  args:\n  - |\n    a\n    b\n",
			func(m *capsule.Manifest) any { return m.Guest.Args }, []string{"a\nb\n"}},
		{"carriage returns", strings.ReplaceAll(minimal, "\n", "\r\n"), name, "x"},
		{"a byte order mark", "\ufeff" + minimal, name, "x"},
		{"a document start", "# a comment\n---\n" + minimal, name, "x"},
		{"an empty section", minimal + "lifecycle: {}\n", name, "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := capsule.Parse([]byte(tt.in), "murmur.yaml")
			require.NoError(t, err)
			assert.Equal(t, tt.want, tt.check(m))
		})
	}
}

func memory(m *capsule.Manifest) any  { return m.Guest.Memory }
func compute(m *capsule.Manifest) any { return m.Guest.Compute }
func name(m *capsule.Manifest) any    { return m.Name }

func TestParse_errors(t *testing.T) {
	life := func(line string) string { return minimal + "lifecycle:\n  " + line + "\n" }
	shell := func(line string) string { return minimal + "capabilities:\n  shell:\n    " + line + "\n" }
	guest := func(line string) string { return minimal + "  " + line + "\n" }
	for _, tt := range []struct{ name, in, want string }{
		// The file.
		{"empty", "", "m: the file is empty"},
		{"only a comment", "# x\n", "m: the file is empty"},
		{"two documents", "name: x\n---\nname: y\n", "m:3:1: a manifest is one YAML document, and this is a second one"},
		{"a list", "- a\n", "m:1:1: keys and values, got a list"},
		{"not UTF-8", "name: \xff\n", "m: a manifest is UTF-8 text, and this file is not"},
		{"too large", strings.Repeat(" ", 70_000), "m: a manifest has at most 65536 bytes, and this file has more"},
		{"too many lines", strings.Repeat("a:\n", 2001), "m: a manifest has at most 2000 lines, and this file has more"},
		{"too deep", strings.Repeat("[", 101), "m: the brackets of a manifest are nested at most 100 deep, and in this file they are deeper"},
		{"unclosed list", "name: [", "m:1:7: cannot read the YAML: sequence end token ']' not found"},
		{"a tab in a section", "guest:\n\tpath: a\n", "m:2:1: cannot read the YAML: a tab at the beginning of a line: YAML is indented with spaces"},
		{"a tab, after spaces", "guest:\n  path: a\n\tmemory: 1\n", "m:3:1: cannot read the YAML: a tab at the beginning of a line: YAML is indented with spaces"},
		{"a tab", "\tname: x\n", "m:1:5: cannot read the YAML: tab character cannot use as a map key directly"},
		// Keys.
		{"misspelt", "nam: x\n", "m:1:1: nam: unknown key, the nearest known one is name"},
		{"misspelt below", life("queue_deepth: 1"), "m:5:3: lifecycle.queue_deepth: unknown key, the nearest known one is queue_depth"},
		{"of another section", minimal + "allow: [bash]\n", "m:4:1: allow: unknown key here, it belongs to capabilities.shell"},
		{"strange", minimal + "zzz: 1\n", "m:4:1: zzz: unknown key, known ones are name, version, guest, capabilities, lifecycle"},
		{"with a newline", "\"a\\nb\": 1\n", `m:1:1: "a\nb": unknown key, known ones are name, version, guest, capabilities, lifecycle`},
		{"twice", "name: x\nname: y\n", "m:2:1: name: the key is already in line 1"},
		{"a number", "1: 2\n", "m:1:1: a key that is a plain text, got the number 1"},
		{"merged", "<<: {name: x}\n", "m:1:1: a key that is a plain text, got an anchor or alias, which a manifest cannot have"},
		// Types.
		{"number as text", "name: 5\n", "m:1:7: name: a text, got the number 5: put it in quotes"},
		{"version as text", "name: x\nversion: 1.0\n", "m:2:10: version: a text, got the number 1.0: put it in quotes"},
		{"map as text", "name:\n  a: b\n", "m:2:3: name: a text, got keys and values"},
		{"nothing as text", "name:\n", "m:1:7: name: a text, got nothing"},
		{"nothing as section", "name: x\nguest:\n", "m:2:8: guest: keys and values, got nothing"},
		{"anchor", "name: &a x\n", "m:1:7: name: a text, got an anchor or alias, which a manifest cannot have"},
		{"tag", "name: !!str x\n", "m:1:7: name: a text, got a tag, which a manifest cannot have"},
		{"text as list", shell("allow: bash"), `m:6:12: capabilities.shell.allow: a list of texts, got the text "bash"`},
		{"number in list", shell("allow: [bash, 5]"), "m:6:19: capabilities.shell.allow[1]: a text, got the number 5: put it in quotes"},
		{"number in map", guest("env: {A: 1}"), "m:4:12: guest.env.A: a text, got the number 1: put it in quotes"},
		{"text as number", life("queue_depth: many"), `m:5:16: lifecycle.queue_depth: a whole number, got the text "many"`},
		{"fraction", life("queue_depth: 1.5"), "m:5:16: lifecycle.queue_depth: a whole number, got the number 1.5"},
		{"huge number", life("queue_depth: 18446744073709551615"), "m:5:16: lifecycle.queue_depth: a whole number, got the number 18446744073709551615"},
		{"not a number", life("shell_grace_secs: .nan"), "m:5:21: lifecycle.shell_grace_secs: a number, got the number .nan"},
		{"infinite", life("shell_grace_secs: .inf"), "m:5:21: lifecycle.shell_grace_secs: a number, got the number .inf"},
		{"text as boolean", life("shell_detach: yes"), `m:5:17: lifecycle.shell_detach: true or false, got the text "yes"`},
		{"size without a unit", guest("memory: 12MB"), `m:4:11: guest.memory: a number of bytes or a size such as "512MiB" (KiB, MiB, GiB), got the text "12MB"`},
		{"negative size", guest("memory: -1"), `m:4:11: guest.memory: a number of bytes or a size such as "512MiB" (KiB, MiB, GiB), got the number -1`},
		{"size that overflows", guest("memory: 99999999999GiB"), `m:4:11: guest.memory: a number of bytes or a size such as "512MiB" (KiB, MiB, GiB), got the text "99999999999GiB"`},
		// Values.
		{"no name", "guest:\n  path: x\n", "m:1:1: name: it is required"},
		{"no guest", "name: x\n", "m:1:1: guest.path: it is required"},
		{"no path", "name: x\nguest:\n  memory: 1MiB\n", "m:2:1: guest.path: it is required"},
		{"name with a slash", "name: a/b\n", `m:1:7: name: up to 64 lowercase letters, digits, '-', '_' and '.', the first a letter or a digit, got "a/b"`},
		{"long name", "name: " + strings.Repeat("n", 65) + "\n", "m:1:7: name: up to 64 lowercase letters, digits, '-', '_' and '.', the first a letter or a digit, got \"" + strings.Repeat("n", 60) + "\"…"},
		{"absolute path", "name: x\nguest: {path: /etc/x}\n", `m:2:15: guest.path: a path relative to the manifest's folder, got "/etc/x"`},
		{"path that escapes", "name: x\nguest: {path: a/../../x}\n", `m:2:15: guest.path: a path inside the manifest's folder, got "a/../../x"`},
		{"path with backslashes", "name: x\nguest: {path: 'a\\b'}\n", `m:2:15: guest.path: the folders of a path are separated by slashes, got "a\\b"`},
		{"the folder itself", "name: x\nguest: {path: ./}\n", "m:2:15: guest.path: a file, got the manifest's own folder"},
		{"NUL in an argument", guest(`args: ["a\0"]`), "m:4:10: guest.args[0]: it contains a NUL byte"},
		{"variable's name", guest(`env: {"A=B": x}`), `m:4:8: guest.env: names are letters, digits and '_', the first no digit, got "A=B"`},
		{"little memory", guest("memory: 1"), "m:4:11: guest.memory: from 64KiB to 4GiB, got 1 bytes"},
		{"much memory", guest("memory: 5GiB"), "m:4:11: guest.memory: from 64KiB to 4GiB, got 5368709120 bytes"},
		{"no compute", guest("compute_secs: 0"), `m:4:17: guest.compute_secs: from 0.001 to 86400 seconds, or "none", got the number 0`},
		{"compute as text", guest("compute_secs: 5s"), `m:4:17: guest.compute_secs: a number of seconds or "none", got the text "5s"`},
		{"path in allow", shell("allow: [/bin/bash]"), `m:6:13: capabilities.shell.allow[0]: the bare name of a binary, such as bash, got "/bin/bash"`},
		{"empty in allow", shell(`allow: [""]`), `m:6:13: capabilities.shell.allow[0]: the bare name of a binary, such as bash, got ""`},
		{"twice in allow", shell("allow: [a, a]"), `m:6:16: capabilities.shell.allow[1]: "a" is already in the list`},
		{"baseline", shell("baseline_env: [A*]"), `m:6:20: capabilities.shell.baseline_env[0]: the name of a variable, got "A*"`},
		{"strip", shell(`strip_env: ["A-B"]`), `m:6:17: capabilities.shell.strip_env[0]: the name of a variable, in which '*' stands for any text, got "A-B"`},
		{"allowed variable", shell(`allow_env: ["A=B"]`), `m:6:17: capabilities.shell.allow_env[0]: the name of a variable, in which '*' stands for any text, got "A=B"`},
		{"acceptance", life("task_acceptance: Queue"), `m:5:20: lifecycle.task_acceptance: one of none, single, queue, got "Queue"`},
		{"after task", life("after_task: stay"), `m:5:15: lifecycle.after_task: one of exit, sleep, got "stay"`},
		{"sleep without queue", life("after_task: sleep"), "m:5:15: lifecycle.after_task: sleep needs task_acceptance: queue, got single"},
		{"zero depth", life("queue_depth: 0"), "m:5:16: lifecycle.queue_depth: from 1 to 1000000, got 0"},
		{"zero runtime", life("shell_max_runtime_secs: 0"), "m:5:27: lifecycle.shell_max_runtime_secs: from 1 to 2592000, got 0"},
		{"zero running", life("shell_max_running: 0"), "m:5:22: lifecycle.shell_max_running: from 1 to 10000, got 0"},
		{"negative grace", life("shell_grace_secs: -0.5"), "m:5:21: lifecycle.shell_grace_secs: from 0 to 86400, got -0.5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := capsule.Parse([]byte(tt.in), "m")
			assert.Nil(t, m)
			assert.EqualError(t, err, tt.want)
		})
	}
}

func TestParse_errorIsTyped(t *testing.T) {
	_, err := capsule.Parse([]byte(minimal+"lifecycle:\n  queue_depth: 0\n"), "dir/murmur.yaml")
	var e *capsule.Error
	require.True(t, errors.As(err, &e))
	assert.Equal(t, capsule.Error{
		File: "dir/murmur.yaml", Line: 5, Column: 16, Field: "lifecycle.queue_depth", What: "from 1 to 1000000, got 0",
	}, *e)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", minimal, "- a", "name: [", "a: &a [*a]", "? x\n: y", "name: |\n  x\n", "{a: b", "\"\\x00\": 1",
		minimal + "lifecycle: {task_acceptance: queue, after_task: sleep, shell_grace_secs: 1.5}\n",
		minimal + "capabilities: {shell: {allow: [a, b], strip_env: ['*A']}}\n",
		minimal + "capabilities: {containment: scoped, require: [memory], filesystem: {read: [~/a]}, resources: {cpu_seconds: 1, memory_bytes: 1GiB}}\n",
		minimal + "  env: {A: b}\n  memory: 1GiB\n  compute_secs: none\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := capsule.Parse(data, "m")
		if err == nil {
			require.NoError(t, m.Validate())
			m.Warnings()
			return
		}
		var e *capsule.Error
		require.True(t, errors.As(err, &e), "%T", err)
		assert.NotEmpty(t, e.What)
		assert.NotContains(t, err.Error(), "\n")
		assert.Less(t, len(err.Error()), 4096)
	})
}
