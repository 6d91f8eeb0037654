package proctree

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestSessionStatus(t *testing.T) {
	assert.Equal(t, 0, start(t, "exit 0").end().Status.ExitStatus())
	assert.Equal(t, 7, start(t, "sleep 0; exit 7").end().Status.ExitStatus())
	assert.Equal(t, unix.SIGKILL, start(t, "kill -9 $$").end().Status.Signal())
}

// gate makes a FIFO: a script that reads from it goes on when release is called.
func gate(t *testing.T) (fifo string, release func()) {
	t.Helper()
	fifo = filepath.Join(t.TempDir(), "hold")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	return fifo, func() {
		f, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		require.NoError(t, err)
		f.Close()
	}
}

func TestSessionIsHeld(t *testing.T) {
	for name, script := range map[string]string{
		"by a background job":         `(echo; read x <$FIFO; echo end >$OUT) & exit 5`,
		"without any of its outputs":  `(exec 1>&- 2>&-; read x <$FIFO; echo end >$OUT) & echo; exit 5`,
		"by nohup":                    `nohup bash -c 'echo; read x <$FIFO; echo end >$OUT' & exit 5`,
		"in another group":            `set -m; (echo; read x <$FIFO; echo end >$OUT) & exit 5`,
		"by a double fork":            `( (echo; read x <$FIFO; echo end >$OUT) & exit ) ; exit 5`,
		"by a chain that forks it on": `(echo; read x <$FIFO; (sleep 0; (echo end >$OUT) & ) & ) & exit 5`,
		"with another environment":    `env -i FIFO=$FIFO OUT=$OUT bash -c 'echo; read x <$FIFO; echo end >$OUT' & exit 5`,
	} {
		t.Run(name, func(t *testing.T) {
			fifo, release := gate(t)
			out := filepath.Join(t.TempDir(), "out")
			s := start(t, "FIFO="+fifo+"; OUT="+out+"\nexport FIFO OUT\n"+script)
			s.line()
			require.NoError(t, s.handle.Wait(context.Background()), "the leader ends")
			done := s.wait(context.Background())
			select {
			case w := <-done:
				t.Fatalf("ended while a member lived: %+v", w)
			default:
			}
			release()
			w := <-done
			require.NoError(t, w.err)
			require.Equal(t, 5, w.Status.ExitStatus())
			require.Empty(t, w.Left)
			require.FileExists(t, out, "the last member did its work before the session was over")
		})
	}
}

func TestSessionLeavesDaemons(t *testing.T) {
	s := start(t, `setsid bash -c 'echo $$; exec sleep 60' & read x < <(sleep 0); exit 0`)
	daemon := s.pid()
	end := s.end()
	require.Equal(t, []int{daemon.PID}, pids(end.Left))
	require.Equal(t, Owned, Verify(daemon))
	kill(t, daemon)
}

// A process may leave the session long after it was found there, and nobody is
// told.
func TestSessionIsLeftLate(t *testing.T) {
	fifo, release := gate(t)
	s := start(t, `(echo $BASHPID; read x <`+fifo+`; exec setsid sleep 60) & exit 0`)
	member := s.pid()
	done := s.wait(context.Background())
	release()
	w := <-done
	require.NoError(t, w.err)
	require.Equal(t, []int{member.PID}, pids(w.Left))
	member.PGID = 0
	kill(t, member)
}

func TestSessionDoesNotNameOthersDaemons(t *testing.T) {
	other := start(t, `echo; sleep 60`)
	other.line()
	s := start(t, `sleep 0 & wait`)
	require.Empty(t, s.end().Left)
	kill(t, other.Identity)
	other.end()
}

func TestSessionHeldByStoppedProcess(t *testing.T) {
	s := start(t, `sleep 60 & kill -STOP $!; echo $!; exit 0`)
	member := s.pid()
	done := s.wait(context.Background())
	kill(t, member)
	require.NoError(t, (<-done).err)
}

func TestSessionGivesUp(t *testing.T) {
	s := start(t, `sleep 60 & echo $!; exit 0`)
	member := s.pid()
	ctx, cancel := context.WithCancel(context.Background())
	done := s.wait(ctx)
	cancel()
	require.ErrorIs(t, (<-done).err, context.Canceled)
	kill(t, member)
}

func TestSessionGivesUpOnTheLeader(t *testing.T) {
	s := start(t, `echo; exec sleep 60`)
	s.line()
	ctx, cancel := context.WithCancel(context.Background())
	done := s.wait(ctx)
	cancel()
	require.ErrorIs(t, (<-done).err, context.Canceled)
	kill(t, s.Identity)
	// The zombie is collected all the same.
	require.Eventually(t, func() bool { return numberFree(s.PID) }, time.Minute, time.Millisecond)
}

func TestSessionsAtOnce(t *testing.T) {
	const n = 40
	done := make(chan waited, n)
	for i := range n {
		s := start(t, `sleep 0 & (sleep 0; exit 1) & wait; exit `+strconv.Itoa(i))
		go func() {
			end, err := s.Wait(context.Background())
			done <- waited{end, err}
		}()
	}
	codes := map[int]bool{}
	for range n {
		w := <-done
		require.NoError(t, w.err)
		codes[w.Status.ExitStatus()] = true
	}
	require.Len(t, codes, n, "no exit code is lost or mixed up")
}

// TestNumberFree shows the proof that a session is empty at each of its steps.
func TestNumberFree(t *testing.T) {
	s := start(t, `sleep 60 & echo $!; exit 0`)
	member := s.pid()
	require.NoError(t, s.handle.Wait(context.Background()))
	require.False(t, numberFree(s.PID), "the leader is a zombie or its session is held")
	_, err := s.reaper.collect(s.Leader)
	require.NoError(t, err)
	require.False(t, numberFree(s.PID), "reaped, but the member holds the session")
	kill(t, member)
	seen, err := s.waitHolders(context.Background())
	require.NoError(t, err)
	require.Empty(t, seen.members)
	require.True(t, numberFree(s.PID) || len(seen.zombies) > 0, "free, or held by a zombie that its parent has not reaped")
}

func TestLastPID(t *testing.T) {
	s := start(t, `exit 0`)
	require.NoError(t, s.handle.Wait(context.Background()))
	last := lastPID()
	require.NotZero(t, last)
	require.Less(t, last, 1<<22+1)
	s.end()
}

func TestNothingSince(t *testing.T) {
	s := start(t, `echo; exec sleep 60`)
	s.line()
	defer func() { kill(t, s.Identity); s.end() }()
	assert.True(t, s.nothingSince(s.PID), "no pid was given out")
	assert.False(t, s.nothingSince(s.PID-1), "the numbers began again")
	assert.False(t, s.nothingSince(s.PID+shortPIDs+1), "too many to look at")
	assert.False(t, s.nothingSince(0), "unknown")
	assert.False(t, s.unrelated(s.PID), "it is of its own session")
	assert.True(t, s.unrelated(os.Getpid()))
	assert.True(t, s.unrelated(1<<30), "there is no such process")
}

func TestSubreaper(t *testing.T) {
	if policy != Reaper(OwnChildren{}) {
		t.Log("running as one")
		return
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	pid, err := syscall.ForkExec("/proc/self/exe", []string{os.Args[0], "-test.run=^TestSession|^TestTeardown|^TestOrphan", "-test.v"}, &syscall.ProcAttr{
		Env:   append(os.Environ(), subreaperEnv+"=1"),
		Files: []uintptr{0, w.Fd(), w.Fd()},
	})
	require.NoError(t, err)
	w.Close()
	out := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		out <- b
	}()
	text := <-out
	var status syscall.WaitStatus
	_, err = syscall.Wait4(pid, &status, 0, nil)
	require.NoError(t, err)
	require.Equal(t, 0, status.ExitStatus(), "%s", text)
	require.Contains(t, string(text), "--- PASS: TestSessionsAtOnce")
}

// A daemon is born by forks whose parents exit at once: one of them may go
// between being listed and being looked at, or before its mark was read.
func TestSessionNamesDaemonsThatForkOn(t *testing.T) {
	for name, c := range map[string]struct {
		script  string
		daemons int
	}{
		"on the way out":       {`(setsid setsid sleep 60 &); exit 0`, 1},
		"beside another":       {`(setsid sleep 60 &); (setsid setsid sleep 60 &); exit 0`, 2},
		"three times":          {`(setsid bash -c "(setsid bash -c '(setsid sleep 60 &)' &)" &); exit 0`, 1},
		"after a longer while": {`sleep 0.06; (setsid setsid sleep 60 &); exit 0`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			for range 8 {
				s := start(t, c.script)
				require.GreaterOrEqual(t, len(s.end().Left), c.daemons)
			}
		})
	}
}
