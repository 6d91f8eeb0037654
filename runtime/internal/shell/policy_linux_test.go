package shell

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPolicyAllowsBareNamesOnly(t *testing.T) {
	b := newBench(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "ls"), []byte("#!/bin/sh\n"), 0o755))
	for _, binary := range []string{
		"", "curl", "./ls", "ls/../sh", "/bin/ls", "/usr/bin/bash", "../ls", "LS", "ls ", " ls", "ls\n", "ls/", ".", "..", "l", "lss", "bash;id",
	} {
		_, _, err := b.launch(`{"binary":` + quoteJSON(binary) + `,"args":[]}`)
		var f *FieldError
		if assert.ErrorAs(t, err, &f, "%q", binary) {
			assert.Equal(t, "binary", f.Field)
			assert.Contains(t, f.Problem, "not in the allow list (bash, sh, true")
		}
	}
	_, l, err := b.launch(`{"binary":"ls","args":["-l","a b"]}`)
	require.NoError(t, err)
	require.Equal(t, "/usr/bin/ls", l.Path, "never the one in the workdir")
	require.Equal(t, []string{"ls", "-l", "a b"}, l.Args)
}

func quoteJSON(s string) string {
	return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(s) + `"`
}

func TestPolicyMissingBinary(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Allow = []string{"no-such-tool", "etc"} })
	_, _, err := b.launch(`{"binary":"no-such-tool","args":[]}`)
	require.ErrorContains(t, err, "binary: no-such-tool is allowed, but this host has none in /usr/local/sbin:")
	b = newBench(t, func(c *Config) { c.Allow = []string{"etc"}; c.Path = []string{"/"} })
	_, _, err = b.launch(`{"binary":"etc","args":[]}`)
	require.ErrorContains(t, err, "this host has none", "a directory is no binary")
	b = newBench(t, func(c *Config) { c.Allow = nil })
	_, _, err = b.launch(`{"binary":"ls","args":[]}`)
	require.ErrorContains(t, err, "ls is not in the allow list (which is empty)")
}

func TestNewPolicyRefuses(t *testing.T) {
	dir := t.TempDir()
	w, err := OpenWorkdir(dir)
	require.NoError(t, err)
	defer w.Close()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	for problem, c := range map[string]Config{
		"allow: /bin/sh":          {Allow: []string{"/bin/sh"}},
		`allow: ""`:               {Allow: []string{""}},
		`allow: "a\nb"`:           {Allow: []string{"a\nb"}},
		"allow: ..":               {Allow: []string{".."}},
		"path: bin":               {Path: []string{"/bin", "bin"}},
		`path: ""`:                {Path: []string{""}},
		"path: " + dir:            {Path: []string{dir + "/bin"}},
		"path: " + link:           {Path: []string{link}},
		"strip_env: [ is not a p": {StripEnv: []string{"["}},
		`allow_env: "" is not a`:  {AllowEnv: []string{""}},
	} {
		c.Workdir = w
		_, err := NewPolicy(c)
		assert.ErrorContains(t, err, problem)
	}
}

func TestNewPolicyRefusesASpoiledWorkdir(t *testing.T) {
	outside := t.TempDir()
	for _, name := range []string{".murmur", ".murmur/home", ".murmur/tmp"} {
		dir := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, name)))
		w, err := OpenWorkdir(dir)
		require.NoError(t, err)
		_, err = NewPolicy(Config{Workdir: w})
		assert.ErrorContains(t, err, "symbolic link", name)
		w.Close()
	}
	require.Empty(t, entries(t, outside))
}

func TestPolicyTimeouts(t *testing.T) {
	for _, c := range []struct{ limit, asked, want time.Duration }{
		{0, 0, 0}, {0, 5, 5}, {9, 0, 9}, {9, 5, 5}, {9, 9, 9}, {9, 10, 9},
	} {
		p := Policy{config: Config{MaxRuntime: c.limit}}
		assert.Equal(t, c.want, p.maxRuntime(c.asked), "%+v", c)
	}
}

func TestPrepareCompletesALaunch(t *testing.T) {
	b := newBench(t, func(c *Config) { c.MaxRuntime = time.Hour })
	r, err := Parse([]byte(bash("echo", `"stdin":"in","timeout_secs":60`)))
	require.NoError(t, err)
	l, err := b.policy.Prepare(r, "cmd_1", "tsk_1")
	require.NoError(t, err)
	l.Env = nil
	require.Equal(t, Launch{
		Path: "/usr/bin/bash", Args: []string{"bash", "-c", "echo"}, Dir: b.dir, Stdin: []byte("in"),
		MaxRuntime: time.Minute, MaxOutput: DefaultMaxOutput, OutDir: b.out, Name: "cmd_1", Task: "tsk_1",
	}, l)
}

func TestPrepareSplitsForOtherBinaries(t *testing.T) {
	b := newBench(t, nil)
	_, l, err := b.launch(`{"binary":"printf","command":"'%s|' \"a b\" $HOME *"}`)
	require.NoError(t, err)
	require.Equal(t, []string{"printf", "%s|", "a b", "$HOME", "*"}, l.Args)
	_, _, err = b.launch(`{"binary":"printf","command":"it's"}`)
	require.EqualError(t, err, "command: unterminated single-quoted string")
	for _, shell := range []string{"bash", "sh", "zsh", "fish", "dash", "ksh"} {
		args, err := arguments(Request{Binary: shell, Command: "it's #"})
		require.NoError(t, err)
		require.Equal(t, []string{shell, "-c", "it's #"}, args)
	}
}

func TestPrepareEntersDirectories(t *testing.T) {
	b := newBench(t, nil)
	outside := t.TempDir()
	for _, dir := range []string{"a/b", "a/c"} {
		require.NoError(t, os.MkdirAll(filepath.Join(b.dir, dir), 0o755))
	}
	for link, target := range map[string]string{"in": "a/b", "out": outside, "up": "..", "root": "/", "loop": "loop", "abs": filepath.Join(b.dir, "a")} {
		require.NoError(t, os.Symlink(target, filepath.Join(b.dir, link)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "file"), nil, 0o600))
	b.gate("fifo")
	for cwd, want := range map[string]string{"a/b": "a/b", "a/b/../c": "a/c", "in": "a/b", "./a/": "a", ".": "", "a/..": ""} {
		res, _ := b.run(bash("pwd; /bin/pwd", `"cwd":"`+cwd+`"`))
		stdout, _ := res.sections(t)
		path := filepath.Join(b.dir, want)
		assert.Equal(t, path+"\n"+path+"\n", stdout, cwd)
	}
	for _, cwd := range []string{"out", "up", "root", "loop", "abs", "missing", "file", "fifo", "a/b/missing", "out/..", "in/../../.."} {
		_, _, err := b.launch(bash("pwd", `"cwd":"`+cwd+`"`))
		var f *FieldError
		if assert.ErrorAs(t, err, &f, cwd) {
			assert.Equal(t, "cwd", f.Field)
		}
	}
}

func TestPrepareChecksTheLogPath(t *testing.T) {
	b := newBench(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "file"), nil, 0o600))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(b.dir, "link")))
	require.NoError(t, os.Symlink("/", filepath.Join(b.dir, "out")))
	for path, problem := range map[string]string{
		"": "empty", "/tmp/x": "absolute", "../x": "leaves", "a\x00": "NUL", "file": "exists", "link": "exists", "out/tmp/x": "cannot be looked at", "file/x": "cannot be looked at",
	} {
		r, err := Parse([]byte(bash("echo")))
		require.NoError(t, err)
		r.LogPath = &path
		_, err = b.policy.Prepare(r, "n", "t")
		var f *FieldError
		if assert.ErrorAs(t, err, &f, "%q", path) {
			assert.Equal(t, "log-path", f.Field)
			assert.Contains(t, f.Problem, problem)
		}
	}
}

func TestEnvironment(t *testing.T) {
	b := newBench(t, func(c *Config) {
		c.Host = []string{"LANG=de_DE.UTF-8", "TZ=CET", "HOME=/root", "PATH=/evil", "LD_PRELOAD=x", "BASH_ENV=x", "TERM=xterm", "malformed", "A=1", "A=2"}
		c.BaselineEnv = []string{"A", "PATH", "LD_PRELOAD"}
	})
	_, l, err := b.launch(bash("echo", `"env":{"A":"3","NEW":"n=1","HOME":"/h"}`))
	require.NoError(t, err)
	slices.Sort(l.Env)
	require.Equal(t, []string{
		"A=3", "HOME=/h", "LANG=de_DE.UTF-8", "LD_PRELOAD=x",
		"MURMUR_WORK=" + l.Name, "MURMUR_WORKDIR=" + b.dir, "NEW=n=1",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"PWD=" + b.dir, "SHELL=/bin/sh", "TERM=dumb", "TMPDIR=" + b.dir + "/.murmur/tmp", "TZ=CET",
	}, l.Env)

	_, l, err = b.launch(bash("echo"))
	require.NoError(t, err)
	require.Contains(t, l.Env, "A=2", "a request leaves no trace in the next one")
	require.Contains(t, l.Env, "HOME="+b.dir+"/.murmur/home")
}

func TestEnvironmentRefuses(t *testing.T) {
	b := newBench(t, func(c *Config) { c.AllowEnv = []string{"NODE_*"} })
	for _, name := range []string{
		"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "ld_preload", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "IFS", "PATH", "PS4",
		"PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "RUBYOPT", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "GIT_EXTERNAL_DIFF", "GCONV_PATH",
		"GLIBC_TUNABLES", "JAVA_TOOL_OPTIONS", "GOFLAGS", "RUSTC_WRAPPER", "EDITOR", "PAGER", "LESSOPEN", "MAKEFLAGS",
		"MURMUR_WORK", "MURMUR_WORKDIR", "", "=", "A=B", "1A", "A-B", "A B", "A\n", "é", "A\u0000", strings.Repeat("A", 256),
	} {
		_, _, err := b.launch(bash("env", `"env":{`+strings.ReplaceAll(quoteJSON(name), "\x00", `\u0000`)+`:"x"}`))
		var f *FieldError
		if assert.ErrorAs(t, err, &f, "%q", name) {
			assert.True(t, strings.HasPrefix(f.Field, "env."), "%q", f.Field)
		}
	}
	for _, name := range []string{"NODE_OPTIONS", "GIT_AUTHOR_NAME", "PYTHONUNBUFFERED", "MY_API_KEY", "_", "a1"} {
		_, l, err := b.launch(bash("env", `"env":{"`+name+`":"x"}`))
		if assert.NoError(t, err, name) {
			assert.Contains(t, l.Env, name+"=x")
		}
	}
	_, _, err := b.launch(bash("env", `"env":{"A":"a\u0000"}`))
	require.EqualError(t, err, "env.A: a NUL byte at offset 1 of 2 bytes")
	_, _, err = b.launch(bash("env", `"env":{"A":"`+strings.Repeat("x", MaxArgument-1)+`"}`))
	require.EqualError(t, err, "env.A: 131072 bytes with its name, the limit is 131071")
	res, _ := b.run(bash("echo ${#A}", `"env":{"A":"`+strings.Repeat("x", MaxArgument-2)+`"}`))
	require.Equal(t, Passed, res.Status, "the longest value reaches the command")
}

func TestMatches(t *testing.T) {
	for _, name := range []string{
		"FAKE_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "DATABASE_URL", "PROD_DATABASE_URL", "GITHUB_TOKEN", "NPM_TOKEN", "PGPASSWORD",
		"DB_PASSWD", "SECRET", "client_secret", "SSH_AUTH_SOCK", "STRIPE_KEY", "OPENAI_API_KEY", "SENTRY_DSN", "MONGODB_URI", "KUBECONFIG",
	} {
		assert.True(t, matches(credentials, name), name)
	}
	for _, name := range []string{"HOME", "LANG", "KEYBOARD", "EDITOR", "MONKEY", "TERM", "CI"} {
		assert.False(t, matches(credentials, name), name)
	}
}

func TestOpenWorkdirRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{"", file, file + "/x", filepath.Join(t.TempDir(), "missing")} {
		_, err := OpenWorkdir(path)
		assert.ErrorContains(t, err, "cannot open the workdir", path)
	}
}

func TestOpenWorkdirByALink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	w, err := OpenWorkdir(link)
	require.NoError(t, err)
	defer w.Close()
	require.Equal(t, dir, w.Path())
	_, err = w.Root().Stat(".")
	require.NoError(t, err)
}

func TestStartRefusesWhatNoPolicyPrepared(t *testing.T) {
	b := newBench(t, nil)
	_, good, err := b.launch(bash("echo"))
	require.NoError(t, err)
	for name, spoil := range map[string]func(*Launch){
		"no name":                func(l *Launch) { l.Name = "" },
		"a name with a slash":    func(l *Launch) { l.Name = "../x" },
		"a name that is a dir":   func(l *Launch) { l.Name = ".." },
		"a relative binary":      func(l *Launch) { l.Path = "bash" },
		"no arguments":           func(l *Launch) { l.Args = nil },
		"a relative directory":   func(l *Launch) { l.Dir = "." },
		"a missing directory":    func(l *Launch) { l.Dir = "/no/such" },
		"a relative output":      func(l *Launch) { l.OutDir = "out" },
		"a missing output":       func(l *Launch) { l.OutDir = "/no/such" },
		"a missing binary":       func(l *Launch) { l.Path = "/no/such" },
		"a directory as binary":  func(l *Launch) { l.Path = "/usr" },
		"more than can be given": func(l *Launch) { l.Args = append(l.Args, slices.Repeat([]string{strings.Repeat("x", 131000)}, 100)...) },
	} {
		l := good
		spoil(&l)
		_, err := b.runner.Start(context.Background(), l)
		assert.Error(t, err, name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = b.runner.Start(ctx, good)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, entries(t, b.out), "nothing is left behind")
	require.Zero(t, b.runner.slots.taken.Load())

	require.NoError(t, b.runner.Close())
	require.NoError(t, b.runner.Close())
	_, err = b.runner.Start(context.Background(), good)
	require.ErrorIs(t, err, ErrClosed)
}

func TestSearchPath(t *testing.T) {
	open, own, good := t.TempDir(), t.TempDir(), "/usr/share"
	require.NoError(t, os.Chmod(open, 0o777))
	if os.Getuid() == 0 {
		require.NoError(t, os.Chown(own, 65534, 65534))
	}
	got := SearchPath([]string{"PATH=/ignored", "PATH=:.:bin:/no/such:/etc/passwd:" + open + ":" + own + ":/usr/bin/:" + good + "/:" + good})
	require.Equal(t, append(slices.Clone(systemPath), good), got)
	require.Equal(t, systemPath, SearchPath(nil))
}

func TestPathLeavesTheWorkdirOut(t *testing.T) {
	b := newBench(t, func(c *Config) {
		require.NoError(t, os.Mkdir(filepath.Join(c.Workdir.path, "bin"), 0o755))
		c.Host = []string{"PATH=" + c.Workdir.path + ":" + c.Workdir.path + "/bin:/usr/share"}
	})
	require.Equal(t, append(slices.Clone(systemPath), "/usr/share"), b.policy.config.Path)
}

func TestHomeIsMadeAgain(t *testing.T) {
	b := newBench(t, nil)
	script := bash(`cd ~ && pwd && mktemp >/dev/null && cat ../.gitignore && rm -r ../../.murmur`)
	for range 2 {
		res, _ := b.run(script)
		stdout, _ := res.sections(t)
		require.Equal(t, b.dir+"/.murmur/home\n*\n", stdout)
	}
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(b.dir, ".murmur")))
	_, _, err := b.launch(script)
	require.ErrorContains(t, err, "cannot prepare the workdir")
}
