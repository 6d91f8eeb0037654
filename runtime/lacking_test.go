package runtime

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
)

func TestLacking(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	rt, err := New(Options{StateDir: t.TempDir(), CacheDir: t.TempDir(), Log: io.Discard, Environ: []string{"PATH=relative"}})
	require.NoError(t, err)
	defer func() { require.NoError(t, rt.Close()) }()
	m := &capsule.Manifest{}
	require.Empty(t, rt.Lacking(m))
	m.Capabilities.Shell.Allow = []string{"sh", "no-such\x1b"}
	m.Capabilities.Filesystem = capsule.Filesystem{Read: []string{"/usr", "~/none"}, Write: []string{"/none", "~"}}
	lines := rt.Lacking(m)
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], `capabilities.shell.allow[1]: this host has no "no-such\x1b" in /usr/local/sbin:`)
	require.Regexp(t, `^capabilities\.filesystem\.read\[1\]: no session can start: stat .*/none: no such file`, lines[1])
	require.Regexp(t, `^capabilities\.filesystem\.write\[0\]: no session can start: stat /none: no such file`, lines[2])
}
