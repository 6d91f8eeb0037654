package proctree

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statLine is a line as proc(5) describes it.
func statLine(pid int, name, state string, threads int, start uint64) string {
	return fmt.Sprintf("%d (%s) %s 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 %d 0 %d 1000 2000 18446744073709551615 0 0\n",
		pid, name, state, threads, start)
}

func TestParseStatHostileNames(t *testing.T) {
	for _, name := range []string{
		"bash", "", " ", ")", "(", "a) R 1 (b", "(ugly )pr()cess(", ") Z 1 1 1 1", "x)\n1 (y", "\xff\xfe", "\x1b[31m", "日本語",
		"99999 (x) S 1 1 1 0 -1 0 0",
	} {
		t.Run(name, func(t *testing.T) {
			p, err := parseStat([]byte(statLine(4242, name, "S", 1, 123456789)))
			require.NoError(t, err)
			assert.Equal(t, Proc{
				Identity: Identity{PID: 4242, StartTime: 123456789, PGID: 8},
				PPID:     7, SID: 9, Name: name,
			}, p)
		})
	}
}

func TestParseStatZombies(t *testing.T) {
	for _, c := range []struct {
		state   string
		threads int
		zombie  bool
	}{
		{"R", 1, false}, {"S", 1, false}, {"D", 1, false}, {"T", 1, false}, {"t", 1, false}, {"I", 1, false},
		{"Z", 1, true}, {"X", 1, true}, {"x", 0, true},
		{"Z", 2, false}, // the main thread has exited, the process has not
	} {
		p, err := parseStat([]byte(statLine(1, "a", c.state, c.threads, 1)))
		require.NoError(t, err)
		assert.Equal(t, c.zombie, p.Zombie, "%s with %d threads", c.state, c.threads)
		assert.Equal(t, c.state == "T", p.Stopped, "%s, which a tracer's stop is not", c.state)
	}
}

func TestParseStatRefusesWhatIsNoStat(t *testing.T) {
	whole := statLine(4242, "a) b", "S", 1, 99)
	fields := strings.LastIndex(whole, " 99 ") + 3
	for i := range fields {
		_, err := parseStat([]byte(whole[:i]))
		assert.Error(t, err, "cut at %d: %q", i, whole[:i])
	}
	for _, bad := range []string{"", "(", ")", ")(", "x (a) S 1 1 1", strings.Replace(whole, " 7 8 ", " 7 x ", 1)} {
		_, err := parseStat([]byte(bad))
		assert.Error(t, err, "%q", bad)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("a) R 1 (b", "S", 1, uint64(77))
	f.Add("", "Z", 2, uint64(1))
	f.Fuzz(func(t *testing.T, name, state string, threads int, start uint64) {
		parseStat([]byte(name))
		p, err := parseStat([]byte(statLine(3, name, state, threads, start)))
		if len(state) != 1 || strings.ContainsAny(state, " \n)") || start > 1<<63-1 {
			return
		}
		require.NoError(t, err)
		require.Equal(t, name, p.Name)
		require.Equal(t, start, p.StartTime)
	})
}

func TestFindMark(t *testing.T) {
	for _, c := range []struct{ environ, mark string }{
		{"", ""},
		{"A=1\x00MURMUR_WORK=wrk\x00B=2\x00", "wrk"},
		{"MURMUR_WORK=wrk", "wrk"},
		{"MURMUR_WORK=", ""},
		{"XMURMUR_WORK=no\x00MURMUR_WORKDIR=no\x00", ""},
		{"A=MURMUR_WORK=no\x00", ""},
		{"MURMUR_WORK=first\x00MURMUR_WORK=second\x00", "first"},
	} {
		assert.Equal(t, c.mark, findMark([]byte(c.environ)), "%q", c.environ)
	}
}

func TestParseStatKernelThread(t *testing.T) {
	p, err := parseStat([]byte("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 1 0 0 20 0 1 0 5 0 0\n"))
	require.NoError(t, err)
	require.True(t, p.Kernel)
	mark, known := markOf(p)
	require.Empty(t, mark)
	require.True(t, known)
}

// What has no environment that can be read is not taken for a bystander as long
// as it may be about to get one.
func TestMarkOfTheUnknown(t *testing.T) {
	s := start(t, "exec env -i /bin/sleep 60")
	require.Eventually(t, func() bool { p, err := lookup(s.PID); return err == nil && p.Name == "sleep" }, time.Minute, time.Millisecond)
	p, err := lookup(s.PID)
	require.NoError(t, err)
	mark, known := markOf(p)
	require.Empty(t, mark)
	require.False(t, known, "it was started with none")
	kill(t, s.Identity)
	s.end()
	_, known = markOf(p)
	require.False(t, known, "it is gone")
	require.True(t, changing(p))
}
