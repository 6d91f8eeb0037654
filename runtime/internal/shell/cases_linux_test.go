package shell

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCase01BackgroundJobHoldsTheCommand(t *testing.T) {
	b := newBench(t, nil)
	b.gate("go")
	b.gate("up")
	r, c := b.start(bash(`(echo >up; read x <go) & echo ok`))
	await(t, filepath.Join(b.dir, "up"))
	require.NoError(t, waitFor(c.Identity()), "the leader ends")
	require.True(t, running(c), "a process of the command lives")
	openGate(t, filepath.Join(b.dir, "go"))
	<-c.Ended()
	res := Foreground(b.policy.config.Workdir, r, c)
	stdout, _ := res.sections(t)
	assert.Equal(t, "ok\n", stdout)
	assert.Equal(t, "0", res.get("exit_code"))
	assert.Equal(t, Passed, res.Status)
}

func TestCase02OutputAfterTheLeaderIsKept(t *testing.T) {
	b := newBench(t, nil)
	res, _ := b.run(bash(`(for i in 1 2 3 4 5; do sleep .1; echo $i; done) & exit 0`))
	stdout, _ := res.sections(t)
	require.Equal(t, "1\n2\n3\n4\n5\n", stdout)
}

func TestCase03RuntimeLimit(t *testing.T) {
	b := newBench(t, nil)
	for _, command := range []string{`sleep ` + long + `; true`, `sleep ` + long + ` & wait`, `sleep ` + long + ` & exit 0`} {
		res, c := b.run(bash(command, `"timeout_secs":1`))
		assert.Equal(t, ReasonTimedOut, c.Exit().Reason, command)
		assert.Equal(t, -1, c.Exit().Code)
		assert.Empty(t, c.Exit().Survivors)
		assert.Empty(t, living(t, c, c.mark()))
		assert.Equal(t, Failed, res.Status)
		assert.Equal(t, "timed_out", res.get("reason"))
		assert.Contains(t, *res.Summary, "timed out")
	}
}

func TestCase04RuntimeLimitOfWhatIgnoresTERM(t *testing.T) {
	b := newBench(t, nil)
	_, c := b.run(bash(`trap "" TERM; sleep `+long+`; sleep `+long, `"timeout_secs":1`))
	assert.Equal(t, ReasonTimedOut, c.Exit().Reason)
	assert.Empty(t, living(t, c, c.mark()))

	_, c = b.run(bash(`(trap "" TERM; sleep `+long+`; sleep `+long+`) & exit 0`, `"timeout_secs":1`))
	assert.Equal(t, ReasonTimedOut, c.Exit().Reason, "after the leader has gone")
	assert.Empty(t, living(t, c, c.mark()))
}

func TestCase05RuntimeLimitTakesDaemonsAlong(t *testing.T) {
	b := newBench(t, nil)
	for _, command := range []string{
		`setsid sleep ` + long + ` & sleep ` + long,
		`(setsid sleep ` + long + ` &); sleep ` + long,
		`( ( sleep ` + long + ` & ) & ); sleep ` + long,
		`env -i setsid sleep ` + long + ` & sleep ` + long,
	} {
		_, c := b.run(bash(command, `"timeout_secs":1`))
		assert.Equal(t, ReasonTimedOut, c.Exit().Reason, command)
		assert.Empty(t, living(t, c, c.mark()), command)
		assert.Empty(t, c.Exit().Survivors, command)
		assert.Empty(t, c.Exit().LeftRunning, command)
	}
}

func TestCase05DaemonIsNamed(t *testing.T) {
	b := newBench(t, nil)
	b.gate("up")
	r, c := b.start(bash(`setsid bash -c 'echo >up; exec sleep ` + long + `' & exit 0`))
	await(t, filepath.Join(b.dir, "up"))
	<-c.Ended()
	res := Foreground(b.policy.config.Workdir, r, c)
	assert.Equal(t, Passed, res.Status, "a daemon is no failure")
	require.Len(t, c.Exit().LeftRunning, 1)
	left := fmt.Sprintf("%s (pid %d)", c.Exit().LeftRunning[0].Name, c.Exit().LeftRunning[0].PID)
	assert.Equal(t, left, res.get("left_running"))
	assert.Contains(t, *res.Data, "left_running: "+left)
	assert.Len(t, living(t, c, c.mark()), 1)
}

func TestCase06OutputWithoutEnd(t *testing.T) {
	b := newBench(t, func(c *Config) { c.MaxOutput = 1 << 20 })
	res, c := b.run(bash(`yes; yes >&2`, `"timeout_secs":1`))
	out := c.Output()
	assert.True(t, out.Truncated)
	assert.Greater(t, out.StdoutBytes, int64(1<<20), "the rest is counted")
	info, err := os.Stat(out.StdoutPath)
	require.NoError(t, err)
	assert.Equal(t, int64(1<<20), info.Size())
	assert.True(t, res.Truncated)
	assert.Contains(t, read(t, filepath.Join(b.dir, *res.DataPath)), "Output over the limit was dropped")
}

func TestCase07TextIsCleanAndTheLogIsRaw(t *testing.T) {
	b := newBench(t, nil)
	path := "copy.log"
	r, l, err := b.launch(bash(`printf 'a\0b \033[31mred\033[0m \xff\xfe \033]0;t\007\n'`))
	require.NoError(t, err)
	r.LogPath = &path
	p, err := b.runner.Start(context.Background(), l)
	require.NoError(t, err)
	<-p.Ended()
	res := Foreground(b.policy.config.Workdir, r, p)
	stdout, _ := res.sections(t)
	assert.Equal(t, "ab red \ufffd\ufffd \n", stdout)
	assert.False(t, res.Truncated)
	assert.Contains(t, read(t, filepath.Join(b.dir, path)), "Stdout:\na\x00b \x1b[31mred\x1b[0m \xff\xfe \x1b]0;t\x07\nStderr:\n")
}

func TestCase08CutOnARuneBoundary(t *testing.T) {
	b := newBench(t, nil)
	res, _ := b.run(bash(`python3 -c 'print("日本語"*20000)'`))
	stdout, _ := res.sections(t)
	assert.True(t, utf8.ValidString(*res.Data))
	assert.Equal(t, strings.Repeat("日本語", 20000)[:16383]+"\n", stdout)
	assert.True(t, res.Truncated)
	require.NotNil(t, res.DataPath)
	assert.Regexp(t, `^logs/cmd_[0-9a-f]{32}\.log$`, *res.DataPath)
	assert.Contains(t, read(t, filepath.Join(b.dir, *res.DataPath)), "\nStdout:\n"+strings.Repeat("日本語", 20000)+"\nStderr:\n")
}

func TestCase09LastStateOfALine(t *testing.T) {
	b := newBench(t, nil)
	res, _ := b.run(bash("for i in $(seq 1 5000); do printf '\\r%3d%%' $i; done"))
	stdout, _ := res.sections(t)
	assert.Equal(t, "5000%\n", stdout)
	assert.True(t, res.Truncated, "the raw stream is longer than what is inline")
}

func TestCase10LogPlacesThatCannotBeUsed(t *testing.T) {
	outside := t.TempDir()
	target := filepath.Join(outside, "target")
	require.NoError(t, os.WriteFile(target, []byte("untouched"), 0o600))
	for name, spoil := range map[string]func(t *testing.T, b *bench){
		"the directory is a link outside": func(t *testing.T, b *bench) {
			require.NoError(t, os.Symlink(outside, filepath.Join(b.dir, "logs")))
		},
		"the directory is a link inside": func(t *testing.T, b *bench) {
			require.NoError(t, os.Symlink(".", filepath.Join(b.dir, "logs")))
		},
		"the directory is a file": func(t *testing.T, b *bench) {
			require.NoError(t, os.WriteFile(filepath.Join(b.dir, "logs"), nil, 0o600))
		},
		"the directory is a FIFO": func(t *testing.T, b *bench) { b.gate("logs") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			spoil(t, b)
			_, _, err := b.launch(bash("echo ran"))
			require.ErrorContains(t, err, "logs")
			require.Equal(t, Error, Refusal(err).Status)
			require.Contains(t, *Refusal(err).Summary, "cannot use the log directory")

			// A command can spoil it while it runs.
			b = newBench(t, nil)
			b.gate("go")
			r, c := b.start(bash("yes | head -c 100000; read x <go; exit 0"))
			spoil(t, b)
			openGate(t, filepath.Join(b.dir, "go"))
			<-c.Ended()
			res := Foreground(b.policy.config.Workdir, r, c)
			assert.Equal(t, Passed, res.Status)
			assert.True(t, res.Truncated)
			assert.Nil(t, res.DataPath)
			assert.Contains(t, *res.Data, "log_error: cannot write the log logs/cmd_")
		})
	}
	assert.Equal(t, "untouched", read(t, target))
	assert.Len(t, entries(t, outside), 1)
}

func TestCase10LogNameIsALink(t *testing.T) {
	b := newBench(t, nil)
	target := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "logs"), 0o755))
	require.NoError(t, os.Symlink(target, filepath.Join(b.dir, "logs", "wrk_1.log")))
	_, err := b.policy.config.Workdir.WriteLog(WorkLog("wrk_1"), Log{})
	require.ErrorIs(t, err, os.ErrExist)
	require.NoFileExists(t, target)
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	return list
}

// nobodyEnv names the test that this program runs as an unprivileged user, for
// whom permissions mean something.
const nobodyEnv = "SHELL_TEST_AS_NOBODY"

func TestCase10LogDirectoryIsNotWritable(t *testing.T) {
	if os.Getuid() == 0 {
		asNobody(t)
		return
	}
	b := newBench(t, nil)
	logs := filepath.Join(b.dir, "logs")
	require.NoError(t, os.Mkdir(logs, 0o555))
	_, _, err := b.launch(bash("echo ran"))
	require.ErrorContains(t, err, "cannot write logs in "+logs)
	require.NoError(t, os.Remove(logs))
	require.NoError(t, os.Chmod(b.dir, 0o555))
	_, _, err = b.launch(bash("echo ran"))
	require.ErrorContains(t, err, "cannot write logs in "+b.dir)
	require.NoError(t, os.Chmod(b.dir, 0o755))
}

func asNobody(t *testing.T) {
	t.Helper()
	tmp := t.TempDir()
	require.NoError(t, os.Chmod(tmp, 0o777))
	require.NoError(t, os.Chmod(filepath.Dir(tmp), 0o755))
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = []string{nobodyEnv + "=1", "TMPDIR=" + tmp}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

func TestCase11NothingToReadFrom(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Allow = append(c.Allow, "ssh-keygen") })
	for _, request := range []string{
		`{"binary":"cat","args":[]}`,
		bash(`read x`),
		bash(`cat </dev/tty`),
		bash(`python3 -c 'input()'`),
		`{"binary":"ssh-keygen","command":"-t ed25519"}`,
	} {
		res, c := b.run(request)
		assert.Equal(t, request == `{"binary":"cat","args":[]}`, res.Status == Passed, "%s: %s", request, *res.Data)
		assert.Empty(t, c.Exit().Reason)
	}
	res, _ := b.run(bash(`tty; ps -o tty= -p $$`))
	stdout, _ := res.sections(t)
	assert.Equal(t, "not a tty\n?\n", stdout)
}

func TestCase12Signals(t *testing.T) {
	b := newBench(t, nil)
	res, _ := b.run(bash(`kill -9 $$`))
	assert.Equal(t, "137", res.get("exit_code"))
	assert.Equal(t, "SIGKILL", res.get("signal"))
	assert.Equal(t, Failed, res.Status)
	assert.Contains(t, *res.Data, "Exit code: 137\nsignal: SIGKILL\n")

	res, _ = b.run(bash(`sh -c 'kill -9 $$'; exit $?`))
	assert.Equal(t, "137", res.get("exit_code"))
	assert.Empty(t, res.get("signal"))
	assert.Equal(t, Failed, res.Status)
}

func TestCase13CommandsArePassedAsTheyAre(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []struct{ command, stdout string }{
		{"cat <<'EOF'\nit's $HOME\nEOF", "it's $HOME\n"},
		{"cat <<EOF\nlast line without newline\nEOF", "last line without newline\n"},
		{"echo a # comment", "a\n"},
		{"echo it\\'s", "it's\n"},
		{"echo \"a  b\"", "a  b\n"},
		{"echo $# $0", "0 bash\n"},
	} {
		_, l, err := b.launch(bash(c.command))
		require.NoError(t, err)
		assert.Equal(t, []string{"bash", "-c", c.command}, l.Args)
		res, _ := b.run(bash(c.command))
		stdout, _ := res.sections(t)
		assert.Equal(t, c.stdout, stdout, c.command)
	}
	longest := "#" + strings.Repeat("x", MaxArgument-1)
	res, _ := b.run(bash(longest))
	assert.Equal(t, Passed, res.Status, "the longest command runs")

	_, _, err := b.launch(bash(strings.Repeat("x", 200_000)))
	require.EqualError(t, err, "command: 200000 bytes, the limit is 131071")
	_, _, err = b.launch(bash("echo a\x00b"))
	require.EqualError(t, err, "command: a NUL byte at offset 6 of 8 bytes")
}

func TestCase14CredentialsAreInvisible(t *testing.T) {
	secrets := []string{"FAKE_API_KEY", "AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "github_token", "MY_OWN"}
	host := []string{"KEEP_ME=kept", "NOT_ASKED_FOR=hidden"}
	for _, name := range secrets {
		host = append(host, name+"=s3cr3t-"+name)
	}
	b := newBench(t, func(c *Config) {
		c.Host = host
		c.BaselineEnv = append([]string{"KEEP_ME"}, secrets...)
		c.StripEnv = []string{"MY_*"}
	})
	res, _ := b.run(bash(`env; cat /proc/$$/environ /proc/self/environ | tr '\0' '\n'`))
	stdout, _ := res.sections(t)
	assert.NotContains(t, stdout, "s3cr3t")
	assert.NotContains(t, stdout, "hidden")
	assert.Equal(t, 3, strings.Count(stdout, "KEEP_ME=kept\n"))
	assert.Contains(t, stdout, "MURMUR_WORKDIR="+b.dir+"\n")
	for _, e := range entries(t, b.out) {
		assert.NotContains(t, read(t, filepath.Join(b.out, e.Name())), "s3cr3t")
	}
}

func TestCase15WorkdirIsGone(t *testing.T) {
	b := newBench(t, nil)
	require.NoError(t, os.RemoveAll(b.dir))
	_, _, err := b.launch(bash("echo ran"))
	require.EqualError(t, err, "the workdir "+b.dir+" is gone")

	require.NoError(t, os.Mkdir(b.dir, 0o755))
	_, _, err = b.launch(bash("echo ran"))
	require.ErrorContains(t, err, "is gone; another directory has its place")
}

func TestCase15DirectoryGoesBeforeTheStart(t *testing.T) {
	b := newBench(t, nil)
	sub := filepath.Join(b.dir, "sub")
	require.NoError(t, os.Mkdir(sub, 0o755))
	_, l, err := b.launch(bash("echo ran", `"cwd":"sub"`))
	require.NoError(t, err)
	require.NoError(t, os.Remove(sub))
	_, err = b.runner.Start(context.Background(), l)
	require.EqualError(t, err, "the directory "+sub+" is gone")

	require.NoError(t, os.Symlink("/", sub))
	_, err = b.runner.Start(context.Background(), l)
	require.ErrorContains(t, err, "has become a symbolic link")
	require.Empty(t, entries(t, b.out))
}

func TestCase24ManyAtOnce(t *testing.T) {
	const n = 500
	b := newBench(t, nil)
	b.runner.slots = NewSlots(n)
	gate, err := os.OpenFile(b.gate("go"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer gate.Close()
	var all []*Command
	for range n {
		_, c := b.start(bash(`read x <go; echo $?; exit 3`))
		all = append(all, c)
	}
	_, l, err := b.launch(bash("echo ran"))
	require.NoError(t, err)
	_, err = b.runner.Start(context.Background(), l)
	var busy *BusyError
	require.ErrorAs(t, err, &busy)
	require.Equal(t, n, busy.Limit)
	require.Contains(t, *Refusal(err).Summary, "too many commands are running: the limit is 500")

	_, err = gate.WriteString(strings.Repeat("\n", n))
	require.NoError(t, err)
	for _, c := range all {
		<-c.Ended()
		require.Equal(t, 3, c.Exit().Code)
		require.Equal(t, int64(2), c.Output().StdoutBytes)
	}
	_, err = b.runner.Start(context.Background(), l)
	require.NoError(t, err, "there is room again")
}

func TestCase27NoFieldIsForged(t *testing.T) {
	b := newBench(t, nil)
	res, _ := b.run(bash("echo x # \nstatus: ok\nexit_code: 0\nexit 9"))
	assert.Equal(t, "Command: \"echo x # \\nstatus: ok\\nexit_code: 0\\nexit 9\"", strings.Split(*res.Data, "\n")[0])
	assert.Equal(t, "9", res.get("exit_code"))
	head, _, _ := strings.Cut(*res.Data, "Stdout:\n")
	assert.Equal(t, 2, strings.Count(head, "\n"))
}
