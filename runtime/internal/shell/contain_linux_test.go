package shell

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

// contain makes the bench's commands contained.
func (b *bench) contain(a containment.Ask) {
	b.t.Helper()
	host := containment.Probe(false)
	p, err := containment.Plan(a, host, containment.Facts{Workdir: b.dir, Hidden: []string{b.out}})
	require.NoError(b.t, err)
	s, err := containment.Open(p)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = s.Close() })
	b.runner.Contain(s)
}

func TestContained(t *testing.T) {
	b := newBench(t, nil)
	b.contain(containment.Ask{Class: containment.Scoped})
	outside := filepath.Join(b.out, "secret")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o644))
	res, c := b.run(bash(`echo in > file; cat file ` + outside + `; exit 3`))
	stdout, stderr := res.sections(t)
	assert.Equal(t, "in\n", stdout)
	assert.Contains(t, stderr, "Permission denied")
	assert.Equal(t, 3, c.Exit().Code)
	assert.Empty(t, c.Exit().Limit)

	res, _ = b.run(bash(`kill -9 $$`))
	assert.Equal(t, "SIGKILL", res.get("signal"))
	assert.Empty(t, res.get("resource_limit"), "a cause that is unknown stays unknown")
}

// The limit that a command met is in every place that tells of its end.
func TestContained_limit(t *testing.T) {
	b := newBench(t, nil)
	kib := int64(1024)
	b.contain(containment.Ask{Class: containment.Advisory, Resources: containment.Resources{MaxFileSizeBytes: &kib}})
	res, c := b.run(bash(`exec head -c 2000 /dev/zero > file`))
	assert.Equal(t, containment.LimitFileSize, c.Exit().Limit)
	assert.Equal(t, Failed, res.Status)
	assert.Equal(t, "max_file_size_bytes", res.get("resource_limit"))
	assert.Contains(t, *res.Data, "\nresource_limit: max_file_size_bytes\n")
}

// A daemon that has cleared its environment is named and ended by the control
// group that it cannot leave.
func TestContained_daemonWithoutItsMark(t *testing.T) {
	if h := containment.Probe(false); !h.Has(containment.MechGroupKill) {
		t.Log("this host has no control group for a command: " + h.Found[containment.MechGroupKill].Why)
		return
	}
	b := newBench(t, nil)
	b.contain(containment.Ask{Class: containment.Scoped})
	up := b.gate("up")
	daemon := `(env -i /usr/bin/setsid /bin/bash -c 'echo $$ > up; exec sleep ` + long + `' >/dev/null 2>&1 &);`

	_, c := b.start(bash(daemon + `exit 0`))
	id := identify(t, await(t, up))
	<-c.Ended()
	require.Len(t, c.Exit().LeftRunning, 1)
	assert.Equal(t, id.PID, c.Exit().LeftRunning[0].PID)
	require.NoError(t, unix.Kill(id.PID, unix.SIGKILL))

	_, c = b.start(bash(daemon + `sleep ` + long))
	id = identify(t, await(t, up))
	require.NoError(t, c.Stop(context.Background(), ReasonKilled))
	assert.Equal(t, ReasonKilled, c.Exit().Reason)
	assert.Empty(t, c.Exit().Survivors)
	assert.Equal(t, proctree.Gone, proctree.Verify(id))
}

// identify names the process whose number a command has told.
func identify(t *testing.T, pid string) proctree.Identity {
	t.Helper()
	n, err := strconv.Atoi(pid)
	require.NoError(t, err)
	id, err := proctree.Capture(n)
	require.NoError(t, err)
	id.PGID = 0
	return id
}

// A binary that containment does not grant is refused by that name.
func TestContained_binaryOutOfReach(t *testing.T) {
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "tool"), []byte("#!/bin/sh\n"), 0o755))
	b := newBench(t, func(c *Config) { c.Path, c.Allow = []string{other}, []string{"tool"} })
	b.contain(containment.Ask{Class: containment.Scoped})
	assert.Equal(t, map[string]string{"tool": other + "/tool"}, b.policy.Binaries())
	_, l, err := b.launch(`{"binary":"tool","args":[]}`)
	require.NoError(t, err)
	_, err = b.runner.Start(context.Background(), l)
	require.EqualError(t, err, "cannot start "+other+"/tool: it lies outside of what containment class scoped grants (capabilities.filesystem.read)")
}

// What commands may write to is no place for binaries, nor is what a link there
// leads to.
func TestPolicy_writable(t *testing.T) {
	dir, granted := t.TempDir(), t.TempDir()
	w, err := OpenWorkdir(dir)
	require.NoError(t, err)
	defer w.Close()
	_, err = NewPolicy(Config{Workdir: w, OutDir: "/out", Path: []string{granted}, Writable: []string{granted}})
	require.EqualError(t, err, "path: "+granted+" is relative, or commands may write to it")

	system := t.TempDir()
	planted := filepath.Join(granted, "tool")
	require.NoError(t, os.WriteFile(planted, nil, 0o755))
	require.NoError(t, os.Symlink(planted, filepath.Join(system, "tool")))
	p, err := NewPolicy(Config{Workdir: w, OutDir: "/out", Path: []string{system}, Allow: []string{"tool"}, Writable: []string{granted}})
	require.NoError(t, err)
	assert.Empty(t, p.Binaries())
	p, err = NewPolicy(Config{Workdir: w, OutDir: "/out", Path: []string{system}, Allow: []string{"tool"}})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"tool": system + "/tool"}, p.Binaries())
}

// Where commands see the workdir elsewhere, they are told of it there.
func TestPolicy_inside(t *testing.T) {
	b := newBench(t, func(c *Config) {
		at := c.Workdir.Path()
		c.Inside = func(path string) string { return "/workdir" + strings.TrimPrefix(path, at) }
	})
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "sub"), 0o755))
	_, l, err := b.launch(bash("true", `"cwd":"sub"`))
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(b.dir, "sub"), l.Dir)
	for _, want := range []string{"PWD=/workdir/sub", "MURMUR_WORKDIR=/workdir", "HOME=/workdir/.murmur/home", "TMPDIR=/workdir/.murmur/tmp"} {
		assert.Contains(t, l.Env, want)
	}
}
