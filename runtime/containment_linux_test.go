package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// ways are the two in which a session's commands are started.
var ways = map[string]func(*capsule.Manifest){"supervised": func(*capsule.Manifest) {}, "in-process": inProcess}

func class(c containment.Class) func(*capsule.Manifest) {
	return func(m *capsule.Manifest) { m.Capabilities.Containment = string(c) }
}

// everyWay runs a test under each class that this host gives, in both runners.
// That it gives all of them is for the host to say: what it lacks is logged.
func everyWay(t *testing.T, fn func(t *testing.T, c containment.Class, edit ...func(*capsule.Manifest))) {
	best := containment.Probe(true).Best()
	t.Logf("this host gives classes up to %s", best)
	for _, c := range []containment.Class{containment.Advisory, containment.Scoped, containment.Sealed} {
		for name, way := range ways {
			t.Run(string(c)+"/"+name, func(t *testing.T) { fn(t, c, class(c), way) })
		}
		if c == best {
			return
		}
	}
}

// An attempt is a bash command that succeeds or does not.
type attempt struct {
	name, command string
	// contained says whether it succeeds under scoped and sealed. Under advisory
	// all of them do, but that a supervisor lets only root look into it.
	contained bool
}

const parent = "the environment of its parent"

func (r *run) try(attempts []attempt) map[string]bool {
	r.Helper()
	var script strings.Builder
	for _, a := range attempts {
		fmt.Fprintf(&script, "(%s) > /dev/null 2>&1 && echo \"%s: yes\" || echo \"%s: no\"\n", a.command, a.name, a.name)
	}
	out := r.tool(r.do(script.String()))
	done := map[string]bool{}
	for _, a := range attempts {
		yes := strings.Contains(out.Data, "\n"+a.name+": yes\n")
		require.NotEqual(r, yes, strings.Contains(out.Data, "\n"+a.name+": no\n"), "%s: %s", a.name, out.Data)
		done[a.name] = yes
	}
	return done
}

// hostSecrets makes a home with a key, and something that listens.
func hostSecrets(t *testing.T) (key string, port int) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	key = filepath.Join(home, ".ssh", "id")
	require.NoError(t, os.Mkdir(filepath.Dir(key), 0o700))
	require.NoError(t, os.WriteFile(key, []byte("key"), 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return key, l.Addr().(*net.TCPAddr).Port
}

func TestContainment(t *testing.T) {
	everyWay(t, func(t *testing.T, c containment.Class, edit ...func(*capsule.Manifest)) {
		key, port := hostSecrets(t)
		r := newRig(t)
		other := r.start(r.load("runner", edit...), SessionOptions{})
		other.do("echo of another session > file")
		s := r.start(r.load("runner", edit...), SessionOptions{})
		state := r.rt.StateDir()
		attempts := []attempt{
			{"the system's files", "head -c 1 /etc/passwd", true},
			{"the workdir", "echo x > own && cat own", true},
			{"where it is", `[ "$PWD" = "$MURMUR_WORKDIR" ] && [ "$(pwd -P)" = "$PWD" ]`, true},
			{"a home", `[ "$HOME" = "$MURMUR_WORKDIR/.murmur/home" ] && echo x > ~/x`, true},
			{"a planted binary", "printf 'exit 1' > head && chmod +x head && head -c 1 /etc/passwd", true},
			{"temporary files", `[ "$TMPDIR" = "$MURMUR_WORKDIR/.murmur/tmp" ] && mktemp`, true},
			{"the state directory", "ls " + state, false},
			{"its own session's state", "cat " + filepath.Join(s.s.Dir(), sessionFileName), false},
			{"another session's workdir", "cat " + filepath.Join(other.s.Workdir(), "file"), false},
			{"the compiled guests", "ls " + r.rt.opts.CacheDir, false},
			{"a key", "cat " + key, false},
			{"the network", fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port), false},
			{parent, "head -c 1 /proc/$PPID/environ", false},
		}
		for name, did := range s.try(attempts) {
			i := 0
			for attempts[i].name != name {
				i++
			}
			if c == containment.Advisory && name == parent {
				continue
			}
			assert.Equal(t, c == containment.Advisory || attempts[i].contained, did, name)
		}
		if c == containment.Sealed {
			assert.Contains(t, s.tool(s.do("pwd; ls -d /tmp/..")).Data, "\n"+containment.SealedWorkdir+"\n")
		}
		assert.Equal(t, "x\n", s.file("own"), "the guest's workdir is the command's")
		s.end()
		other.end()
	})
}

// What is in the host's environment is in none of a command's, nor in that of
// its supervisor, nor in any record.
func TestContainment_environment(t *testing.T) {
	const secret = "hush-9f2c"
	for _, name := range []string{"FAKE_API_KEY", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "JUST_SO"} {
		t.Setenv(name, secret)
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.start(r.load("runner", way, atOnce), SessionOptions{})
			up := r.gate()
			s.do("env; cat /proc/self/environ; echo up > " + up.path)
			_, err := os.ReadFile(up.path)
			require.NoError(t, err)
			if s.s.durables != nil {
				environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.s.durables.own.runner.PID()))
				if !errors.Is(err, fs.ErrPermission) { // It is closed to its own user.
					require.NoError(t, err)
					assert.NotContains(t, string(environ), secret)
				}
			}
			s.idle()
			s.end()
			require.NoError(t, filepath.WalkDir(r.rt.StateDir(), func(path string, d fs.DirEntry, err error) error {
				var text []byte
				if err == nil && d.Type().IsRegular() {
					text, err = os.ReadFile(path)
				}
				assert.False(t, bytes.Contains(text, []byte(secret)), path)
				if errors.Is(err, fs.ErrNotExist) {
					return nil // The supervisor tidies up.
				}
				return err
			}))
		})
	}
}

// Where it can be told how a limit was met, every place that tells of the end
// names it.
func TestContainment_limits(t *testing.T) {
	host := containment.Probe(false)
	for _, tt := range []struct {
		limit, command string
		set            func(*capsule.Resources)
		needs          containment.Mechanism
	}{
		{containment.LimitCPU, "while :; do :; done", func(r *capsule.Resources) { r.CPUSeconds = 1 }, ""},
		{containment.LimitFileSize, "exec head -c 2M /dev/zero > big", func(r *capsule.Resources) { r.MaxFileSizeBytes = 1 << 20 }, ""},
		{containment.LimitMemory, "exec tail /dev/zero", func(r *capsule.Resources) { r.CgroupMemoryBytes = 64 << 20 }, containment.MechGroupMemory},
		{containment.LimitPids, "exec sh -c 'sleep .3 & sleep .3 & sleep .3 &'",
			func(r *capsule.Resources) { r.CgroupPidsMax = 3 }, containment.MechGroupPids},
	} {
		t.Run(tt.limit, func(t *testing.T) {
			r := newRig(t)
			c := r.load("runner", func(m *capsule.Manifest) { tt.set(&m.Capabilities.Resources) })
			s := r.start(c, SessionOptions{})
			if tt.needs != "" && !host.Has(tt.needs) {
				assert.NotEmpty(t, limitReceipt(t, s.s.Containment(), tt.limit).Why, "what nothing enforces is told")
				s.end()
				return
			}
			out := s.tool(s.do(tt.command))
			assert.Equal(t, "failed", out.Status)
			assert.Equal(t, tt.limit, out.Metadata["resource_limit"], out.Data)
			assert.Contains(t, out.Data, "\nresource_limit: "+tt.limit+"\n")
			assert.Equal(t, tt.limit, s.events.of(trace.Shell)[0].ResourceLimit)
			s.end()
		})
	}
}

func limitReceipt(t *testing.T, r *Receipt, name string) containment.LimitReceipt {
	t.Helper()
	for _, l := range r.Limits {
		if l.Name == name {
			return l
		}
	}
	require.FailNow(t, "no receipt", name)
	return containment.LimitReceipt{}
}

// A demoted command's limit is in its completion, its event and its record.
func TestContainment_limitOfADemotedCommand(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			results := make(chan TaskResult, 2)
			c := r.load("runner", atOnce, way, func(m *capsule.Manifest) { m.Capabilities.Resources.MaxFileSizeBytes = 1 << 20 })
			g := r.gate()
			s := r.start(c, SessionOptions{OnResult: func(res TaskResult) { results <- res }})
			s.do(g.command("exec head -c 2M /dev/zero > big"))
			<-results
			g.open(t)
			s.idle()
			assert.Contains(t, (<-results).Result, "\nresource_limit: max_file_size_bytes\n")
			e := s.events.of(trace.ShellCompleted)[0]
			assert.Equal(t, containment.LimitFileSize, e.ResourceLimit)
			assert.Equal(t, "error", e.Status)
			if name == "supervised" {
				assert.Equal(t, containment.LimitFileSize, recordsIn(t, s.s)[0].Outcome.Limit)
			}
			s.end()
		})
	}
}

func recordsIn(t *testing.T, s *Session) []jobs.Record {
	t.Helper()
	store, err := supervisor.Records(s.Dir())
	require.NoError(t, err)
	handles, asides, err := store.List()
	require.NoError(t, err)
	require.Empty(t, asides)
	var list []jobs.Record
	for _, h := range handles {
		list = append(list, h.Record())
	}
	return list
}

// The receipt is pending in session_start, confirmed with the first command, and
// in each durable record.
func TestContainment_receipt(t *testing.T) {
	everyWay(t, func(t *testing.T, c containment.Class, edit ...func(*capsule.Manifest)) {
		r := newRig(t)
		g := r.gate()
		s := r.start(r.load("runner", append(edit, atOnce)...), SessionOptions{})
		decode := func(text json.RawMessage) (receipt Receipt) {
			require.NoError(t, json.Unmarshal(text, &receipt), "%s", text)
			return receipt
		}
		planned := decode(s.events.of(trace.SessionStart)[0].Containment)
		assert.Equal(t, c, planned.Class)
		assert.True(t, planned.Pending)
		assert.Equal(t, planned, *s.s.Containment())
		for _, d := range containment.Dimensions() {
			assert.NotEqual(t, planned.Holds(d), planned.NotEnforced[d] != "", "%s is enforced, or it is said why not", d)
		}

		s.do(g.command("true"))
		confirmed := decode(s.events.of(trace.ShellDetached)[0].Containment)
		assert.False(t, confirmed.Pending)
		require.NotNil(t, confirmed.Verified)
		assert.Equal(t, c != containment.Advisory, confirmed.Verified.Seccomp)
		assert.Equal(t, confirmed, *s.s.Containment())
		if s.s.durables != nil {
			assert.Equal(t, confirmed, decode(recordsIn(t, s.s)[0].Receipt))
		}
		g.open(t)
		s.idle()
		s.do(`{"binary":"bash","command":"true","background":true}`)
		assert.Nil(t, s.events.of(trace.ShellDetached)[1].Containment, "it is told once")
		s.idle()
		s.end()
	})
}

// A scripted shell stands for commands: nothing is contained, and nothing said.
func TestContainment_scriptedShell(t *testing.T) {
	r := newRig(t)
	c := r.load("runner", class(containment.Sealed))
	s := r.start(c, SessionOptions{
		Shell:        func(context.Context, ShellRequest) ShellAnswer { return ShellAnswer{} },
		testOnlyHost: func(h *containment.Host) { t.Error("the host was asked") },
	})
	assert.Nil(t, s.s.Containment())
	assert.Empty(t, s.events.of(trace.SessionStart)[0].Containment)
	s.end()
}

// Without Landlock and user namespaces there is only advisory.
func weak(h *containment.Host) {
	h.LandlockABI = 0
	h.Found[containment.MechLandlock] = containment.Finding{Why: "the kernel has no Landlock", Remedy: "boot another"}
	h.Found[containment.MechSealedRoot] = containment.Finding{Why: "namespaces are forbidden"}
}

func TestContainment_refused(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*capsule.Manifest)
		want string
	}{
		{"scoped", class(containment.Scoped), "cannot enforce class scoped on this host: landlock is missing (the kernel has no Landlock); to get it: boot another"},
		{"sealed", class(containment.Sealed), "cannot enforce class sealed on this host: sealed_root is missing (namespaces are forbidden)"},
		{"dimension", func(m *capsule.Manifest) { m.Capabilities.Require = []string{"filesystem"} },
			"cannot enforce dimension filesystem on this host: class advisory: landlock is missing (the kernel has no Landlock); to get it: boot another"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			c := r.load("runner", tt.edit)
			_, err := r.rt.Start(t.Context(), c, SessionOptions{testOnlyHost: weak})
			require.EqualError(t, err, tt.want)
			var refused *ContainmentError
			require.ErrorAs(t, err, &refused)
			for _, dir := range []string{"sessions", "workdirs"} {
				left, err := os.ReadDir(filepath.Join(r.rt.StateDir(), dir))
				require.NoError(t, err)
				assert.Empty(t, left, "nothing is left of it")
			}
		})
	}
}

// Where no class was asked for, a weak host is used, and that is said.
func TestContainment_weakHost(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{testOnlyHost: weak})
	assert.Equal(t, containment.Advisory, s.s.Containment().Class)
	assert.Contains(t, r.log.String(), "[capsule-runtime] commands are not contained: class advisory: landlock is missing (the kernel has no Landlock)")
	assert.Contains(t, s.tool(s.do("echo hi")).Data, "hi\n")
	s.end()
}

func TestContainment_grants(t *testing.T) {
	key, _ := hostSecrets(t)
	home, sdk := filepath.Dir(filepath.Dir(key)), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(sdk, "tool"), []byte("#!/bin/bash\necho tool\n"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(home, "cache"), 0o755))
	r := newRig(t)
	files := func(read, write []string) func(*capsule.Manifest) {
		return func(m *capsule.Manifest) {
			m.Capabilities.Filesystem.Read, m.Capabilities.Filesystem.Write = read, write
		}
	}
	s := r.start(r.load("runner", files([]string{sdk, "~/.ssh"}, []string{"~/cache"})), SessionOptions{})
	done := s.try([]attempt{
		{name: "read", command: "cat " + sdk + "/tool"},
		{name: "run", command: sdk + "/tool"},
		{name: "write what may be read", command: "echo >> " + sdk + "/tool"},
		{name: "write", command: "echo x > " + home + "/cache/x"},
		{name: "beside it", command: "ls " + home},
		{name: "a key that is named", command: "cat " + key},
	})
	assert.Equal(t, map[string]bool{
		"read": true, "run": true, "write what may be read": false, "write": true, "beside it": false, "a key that is named": true,
	}, done)

	busy := t.TempDir()
	other := r.start(r.load("runner"), SessionOptions{Workdir: filepath.Join(busy)})
	for _, tt := range []struct{ path, want string }{
		{"~", `it holds ` + home + `/.ssh, which no command may reach`},
		{r.rt.StateDir() + "/workdirs", `it lies in ` + r.rt.StateDir() + `, which no command may reach`},
		{filepath.Dir(r.rt.StateDir()), `it holds ` + r.rt.StateDir() + `, which no command may reach`},
		{busy, `it holds ` + busy + `, which no command may reach`},
		{"/nowhere", "lstat /nowhere: no such file or directory"},
	} {
		_, err := r.rt.Start(t.Context(), r.load("runner", files(nil, []string{tt.path})), SessionOptions{})
		require.EqualError(t, err, fmt.Sprintf("capabilities.filesystem.write[0]: cannot grant %q: %s", tt.path, tt.want))
	}
	other.end()
	s.end()
}

// A workdir that holds the state would give it away.
func TestContainment_workdirThatHoldsTheState(t *testing.T) {
	r := newRig(t)
	_, err := r.rt.Start(t.Context(), r.load("runner"), SessionOptions{Workdir: filepath.Dir(r.rt.StateDir())})
	require.EqualError(t, err, fmt.Sprintf("cannot contain commands: the workdir %s holds %s, which no command may reach",
		filepath.Dir(r.rt.StateDir()), r.rt.StateDir()))
}

func TestContainment_quota(t *testing.T) {
	r := newRig(t)
	c := r.load("runner", func(m *capsule.Manifest) {
		m.Capabilities.Resources.WorkdirMaxBytes = 1 << 20
		m.Capabilities.Resources.MaxOutputBytes = 1 << 10
	})
	s := r.start(c, SessionOptions{})
	out := s.tool(s.do("head -c 2M /dev/zero | tee file"))
	assert.Equal(t, "passed", out.Status)
	assert.True(t, out.Truncated, "output over the cap is dropped")
	out = s.tool(s.do("true"))
	assert.Equal(t, "error", out.Status)
	assert.Contains(t, out.Summary, "workdir_max_bytes 1048576")
	s.end()
}

// A binary that commands cannot reach is told of at the start.
func TestContainment_binaryOutOfReach(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "my-tool"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	r := newRig(t)
	c := r.load("runner", class(containment.Scoped), func(m *capsule.Manifest) {
		m.Capabilities.Shell.Allow = append(m.Capabilities.Shell.Allow, "my-tool")
	})
	s := r.start(c, SessionOptions{})
	if os.Geteuid() == 0 { // Others' directories are not looked in.
		assert.Contains(t, r.log.String(), "commands cannot run my-tool: "+dir+"/my-tool lies outside of what class scoped grants")
	}
	out := s.tool(s.do(`{"binary":"my-tool","args":[]}`))
	assert.Equal(t, "error", out.Status)
	s.end()
}

// A sealed command goes to the background, is stopped and comes back as any
// other, and takes along what it has left.
func TestContainment_sealedInBackground(t *testing.T) {
	if containment.Probe(true).Best() != containment.Sealed {
		t.Log("this host cannot seal")
		return
	}
	r := newRig(t)
	up := r.gate()
	s := r.start(r.load("runner", atOnce, class(containment.Sealed)), SessionOptions{})
	s.do("(setsid sleep 1000 > /dev/null 2>&1 &); echo up > " + up.path + "; exec sleep 1000")
	_, err := os.ReadFile(up.path)
	require.NoError(t, err)
	list := r.jobs()
	require.Len(t, list, 1)
	stopped, err := list[0].Stop(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "killed", stopped.Reason)
	assert.Empty(t, stopped.LeftRunning)
	s.do("(setsid sleep 1000 > /dev/null 2>&1 &); echo done")
	s.idle()
	s.end()
	for _, e := range s.events.of(trace.ShellCompleted) {
		assert.NotZero(t, *e.OutputBytes)
	}
	assert.Equal(t, "ok", s.events.of(trace.ShellCompleted)[1].Status)
}
