package supervisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestServiceOf(t *testing.T) {
	for cgroup, want := range map[string]struct {
		unit string
		user bool
	}{
		"":                                  {"", false},
		"0::/\n":                            {"", false},
		"0::/system.slice/murmur.service\n": {"murmur.service", false},
		"0::/system.slice/murmur.service/child\n":                                     {"murmur.service", false},
		"0::/user.slice/user-1000.slice/session-2.scope\n":                            {"", false},
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/agent.service\n":  {"agent.service", true},
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/terminal.scope\n": {"", true},
		"12:pids:/x.service\n1:name=systemd:/system.slice/a.service\n0::/\n":          {"a.service", false},
		"garbage":    {"", false},
		"1:cpu\n0::": {"", false},
	} {
		unit, user := serviceOf(cgroup)
		assert.Equal(t, want.unit, unit, cgroup)
		if unit != "" {
			assert.Equal(t, want.user, user, cgroup)
		}
	}
}

func TestEscape(t *testing.T) {
	const service = "0::/user.slice/user@1000.service/app.slice/agent.service"
	dir := t.TempDir()
	tool := filepath.Join(dir, "busctl")
	require.NoError(t, os.WriteFile(tool, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" > "+dir+"/asked\n"), 0o700))
	find := func(string) (string, error) { return tool, nil }

	e := escaping("0::/", dir, find)
	assert.True(t, e.Possible)
	require.NoError(t, e.move(1234, "/s/ses_1"))

	e = escaping(service, dir, find)
	assert.True(t, e.Possible)
	assert.Equal(t, "agent.service", e.Service)
	require.NoError(t, e.move(1234, "/s/ses_1"))
	asked := lines(t, filepath.Join(dir, "asked"))
	assert.Equal(t, "--user", asked[0])
	assert.Contains(t, strings.Join(asked, " "), "StartTransientUnit ssa(sv)a(sa(sv)) murmur-ses_1-1234.scope fail 3 PIDs au 1 1234")

	require.NoError(t, os.WriteFile(tool, []byte("#!/bin/sh\necho denied >&2; exit 1\n"), 0o700))
	assert.ErrorContains(t, e.move(1234, "/s/ses_1"), "denied")

	e = escaping(service, dir+"/none", find)
	assert.ErrorContains(t, e.move(1, ""), "systemd does not run here")
	e = escaping(service, dir, func(string) (string, error) { return "", exec.ErrNotFound })
	assert.False(t, e.Possible)
	assert.ErrorContains(t, e.move(1, ""), "not installed")
}

// A supervisor that died inside a service leaves word of it.
func TestEscape_ARestartThatKilledItIsReported(t *testing.T) {
	b := newBench(t)
	said := make(chan struct{}, 1)
	b.o.Log = func(line string) {
		if strings.Contains(line, "KillMode=process") && strings.Contains(line, "murmur.service while it had 1 command") {
			said <- struct{}{}
		}
	}
	r := b.connect()
	g := b.gate("go")
	p := b.start(r, "read x < go")
	j, err := openJournal(b.dir)
	require.NoError(t, err)
	require.NoError(t, j.write(entry{Step: stepSupervisor, Service: "murmur.service"}))
	require.NoError(t, unix.Kill(r.PID(), unix.SIGKILL))
	await(t, "the report", said)
	g.open()
	await(t, "the end", p.Ended())
}
