package capsule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
)

func TestContainment_defaults(t *testing.T) {
	got, err := capsule.Parse([]byte(minimal+"capabilities: {filesystem: {}, resources: {}}\n"), "m")
	require.NoError(t, err)
	assert.Equal(t, capsule.Capabilities{
		Filesystem: capsule.Filesystem{WorkdirExec: true},
		Network:    "none",
		Resources: capsule.Resources{
			MaxProcesses: 128, MaxOpenFiles: 1024, MaxFileSizeBytes: 4 << 30, CPUSeconds: 3600,
			CgroupMemoryBytes: 4 << 30, CgroupPidsMax: 256, WorkdirMaxBytes: 10 << 30, MaxOutputBytes: 256 << 20,
		},
	}, got.Capabilities)
}

func TestContainment_errors(t *testing.T) {
	const dimensions = "filesystem, process_tree, network, memory, process_count, wall_clock"
	at := func(line string) string { return minimal + "capabilities:\n  " + line + "\n" }
	files := func(line string) string { return at("filesystem:\n    " + line) }
	limit := func(line string) string { return at("resources:\n    " + line) }
	for _, tt := range []struct{ name, in, want string }{
		{"class", at("containment: strict"), `m:5:16: capabilities.containment: one of advisory, scoped, sealed, got "strict"`},
		{"empty class", at(`containment: ""`), "m:5:16: capabilities.containment: it is empty; leave it out for the default"},
		{"class of nothing", at("containment:"), "m:5:16: capabilities.containment: a text, got nothing"},
		{"dimension", at("require: [memory, disk]"), "m:5:21: capabilities.require[1]: one of " + dimensions + `, got "disk"`},
		{"dimension twice", at("require: [memory, memory]"), `m:5:21: capabilities.require[1]: "memory" is already in the list`},
		{"contradiction", at("network: host\n  require: [network]"), "m:6:13: capabilities.require[0]: network cannot be required together with capabilities.network: host"},
		{"network", at("network: all"), `m:5:12: capabilities.network: one of none, host, got "all"`},
		{"list of hosts", at("network: [example.org]"), "m:5:12: capabilities.network: a text, got a list"},
		{"relative path", files("read: [a]"), `m:6:12: capabilities.filesystem.read[0]: an absolute path, or one that begins with ~/, got "a"`},
		{"another's home", files("read: [~root]"), `m:6:12: capabilities.filesystem.read[0]: an absolute path, or one that begins with ~/, got "~root"`},
		{"path with ..", files("write: [/a/../b]"), `m:6:13: capabilities.filesystem.write[0]: a path without .., got "/a/../b"`},
		{"root", files("write: [/a, /./]"), "m:6:17: capabilities.filesystem.write[1]: the whole root cannot be granted; capabilities.containment: advisory contains nothing"},
		{"NUL in a path", files(`read: ["/a\0"]`), "m:6:12: capabilities.filesystem.read[0]: it contains a NUL byte"},
		{"unknown key", files("exec: true"), "m:6:5: capabilities.filesystem.exec: unknown key, known ones are read, write, workdir_exec"},
		{"no limit", limit("cpu_seconds: 0"), "m:6:18: capabilities.resources.cpu_seconds: more than 0, got 0; leave it out for the default"},
		{"negative", limit("max_processes: -1"), "m:6:20: capabilities.resources.max_processes: more than 0, got -1; leave it out for the default"},
		{"no memory", limit("memory_bytes: 0"), "m:6:19: capabilities.resources.memory_bytes: more than 0, less than 8 EiB, got the number 0; leave it out for the default"},
		{"no size", limit("max_output_bytes: 0GiB"), `m:6:23: capabilities.resources.max_output_bytes: more than 0, less than 8 EiB, got the text "0GiB"; leave it out for the default`},
		{"huge size", limit("workdir_max_bytes: 8589934592GiB"), `m:6:24: capabilities.resources.workdir_max_bytes: more than 0, less than 8 EiB, got the text "8589934592GiB"; leave it out for the default`},
		{"fraction", limit("cpu_seconds: 0.5"), "m:6:18: capabilities.resources.cpu_seconds: a whole number, got the number 0.5"},
		{"a size without unit", limit("cgroup_memory_bytes: 4G"), `m:6:26: capabilities.resources.cgroup_memory_bytes: a number of bytes or a size such as "512MiB" (KiB, MiB, GiB), got the text "4G"`},
		{"misspelt", limit("cgroup_pid_max: 1"), "m:6:5: capabilities.resources.cgroup_pid_max: unknown key, the nearest known one is cgroup_pids_max"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := capsule.Parse([]byte(tt.in), "m")
			assert.EqualError(t, err, tt.want)
		})
	}
}

// What a program sets goes by the same rules.
func TestContainment_withoutFile(t *testing.T) {
	for _, tt := range []struct {
		change func(*capsule.Capabilities)
		want   string
	}{
		{func(c *capsule.Capabilities) { c.Network = "" }, `capabilities.network: one of none, host, got ""`},
		{func(c *capsule.Capabilities) { c.Resources = capsule.Resources{} }, "capabilities.resources.max_processes: more than 0, got 0"},
		{func(c *capsule.Capabilities) { c.Resources.MemoryBytes = -1 }, "capabilities.resources.memory_bytes: more than 0, got -1"},
	} {
		m := capsule.Default()
		m.Name, m.Guest.Path = "x", "x.wasm"
		require.NoError(t, m.Validate())
		tt.change(&m.Capabilities)
		assert.EqualError(t, m.Validate(), tt.want)
	}
}
