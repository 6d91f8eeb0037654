package proctree

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// subreaperEnv makes this program run its session tests as a subreaper.
const subreaperEnv = "PROCTREE_TEST_SUBREAPER"

// policy is how the tests collect leaders.
var policy Reaper = OwnChildren{}

func TestMain(m *testing.M) {
	if os.Getenv(subreaperEnv) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	s, err := NewSubreaper()
	if err != nil {
		panic(err)
	}
	policy = s
	code := m.Run()
	s.Close()
	os.Exit(code)
}

// A started is a leader with what it prints.
type started struct {
	*Leader
	t   *testing.T
	out *bufio.Reader
}

var marks atomic.Int64

// start runs a script as the leader of a session. Its tree is gone when the test
// is over.
func start(t *testing.T, script string) *started {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	mark := fmt.Sprintf("test-%d-%d", os.Getpid(), marks.Add(1))
	l, err := policy.Spawn(mark, func() (f Forked, err error) {
		f.PID, _, err = syscall.StartProcess("/bin/bash", []string{"bash", "-c", script}, &syscall.ProcAttr{
			Env:   []string{"PATH=/usr/bin:/bin", MarkVar + "=" + mark},
			Files: []uintptr{null.Fd(), w.Fd(), 2},
			Sys:   &syscall.SysProcAttr{Setsid: true, PidFD: &f.PIDFD},
		})
		return f, err
	})
	w.Close()
	require.NoError(t, err)
	t.Cleanup(func() { Tree{Leader: l.Identity, Mark: mark}.Teardown(context.Background()) })
	return &started{l, t, bufio.NewReader(r)}
}

// line waits for a line that the script prints.
func (s *started) line() string {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	require.NoError(s.t, err)
	return strings.TrimSpace(line)
}

// pid waits for a line with the pid of a process that lives.
func (s *started) pid() Identity {
	s.t.Helper()
	var pid int
	_, err := fmt.Sscan(s.line(), &pid)
	require.NoError(s.t, err)
	id, err := Capture(pid)
	require.NoError(s.t, err)
	return id
}

// wait waits for the session's end elsewhere.
func (s *started) wait(ctx context.Context) <-chan waited {
	done := make(chan waited, 1)
	go func() {
		end, err := s.Wait(ctx)
		done <- waited{end, err}
	}()
	return done
}

type waited struct {
	End
	err error
}

// end waits for the session's end.
func (s *started) end() End {
	s.t.Helper()
	end, err := s.Wait(context.Background())
	require.NoError(s.t, err)
	return end
}

func kill(t *testing.T, id Identity) {
	t.Helper()
	h, err := Open(id)
	require.NoError(t, err)
	defer h.Close()
	require.NoError(t, h.Signal(unix.SIGKILL))
	require.NoError(t, h.Wait(context.Background()))
}

func pids(procs []Proc) []int {
	list := []int{}
	for _, p := range procs {
		list = append(list, p.PID)
	}
	return list
}
