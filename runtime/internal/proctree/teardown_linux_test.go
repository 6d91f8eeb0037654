package proctree

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// teardownOf ends the tree of a leader whose end is waited for beside it.
func teardownOf(t *testing.T, s *started) (Outcome, waited) {
	t.Helper()
	done := s.wait(context.Background())
	outcome, err := s.Tree().Teardown(context.Background())
	require.NoError(t, err)
	require.Empty(t, outcome.Survivors)
	return outcome, <-done
}

func TestTeardownAsks(t *testing.T) {
	s := start(t, `trap 'echo asked; exit 3' TERM; sleep 60 & echo; wait`)
	s.line()
	_, w := teardownOf(t, s)
	require.NoError(t, w.err)
	require.Equal(t, 3, w.Status.ExitStatus())
	require.Equal(t, "asked", s.line())
}

func TestTeardownInsists(t *testing.T) {
	s := start(t, `trap "" TERM; sleep 60 & echo $!; wait; sleep 60`)
	member := s.pid()
	_, w := teardownOf(t, s)
	require.NoError(t, w.err)
	require.Equal(t, unix.SIGKILL, w.Status.Signal())
	require.Equal(t, Gone, Verify(member))
}

func TestTeardownTakesAll(t *testing.T) {
	for name, script := range map[string]string{
		"the group after its leader has gone": `sleep 60 & echo $!; exit 0`,
		"another group":                       `set -m; sleep 60 & echo $!; exit 0`,
		"another session":                     `setsid bash -c 'echo $$; exec sleep 60' & sleep 60`,
		"a daemon":                            `(setsid bash -c 'echo $$; exec sleep 60' & ) ; sleep 60`,
		"a daemon whose leader has gone":      `setsid bash -c 'echo $$; exec sleep 60' & exit 0`,
		"a child that lost its mark":          `env -i setsid bash -c 'echo $$; exec sleep 60' & sleep 60`,
		"a stopped process":                   `sleep 60 & kill -STOP $!; echo $!; wait`,
		"one that stops at once":              `bash -c 'trap "" TERM; echo $$; kill -STOP $$' & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, script)
			id := s.pid()
			outcome, w := teardownOf(t, s)
			require.NoError(t, w.err)
			assert.Equal(t, Gone, Verify(id))
			assert.Positive(t, outcome.Signalled)
		})
	}
}

// A process that forks and exits without end is never where a look saw it.
func TestTeardownCatchesWhatHops(t *testing.T) {
	s := start(t, `trap "" TERM; hop() { (hop) & exit; }; echo; hop`)
	s.line()
	_, w := teardownOf(t, s)
	require.NoError(t, w.err)
}

func TestTeardownOfNothing(t *testing.T) {
	s := start(t, `exit 4`)
	require.True(t, s.Tree().holds())
	require.Equal(t, 4, s.end().Status.ExitStatus())
	outcome, err := s.Tree().Teardown(context.Background())
	require.NoError(t, err)
	require.Equal(t, Outcome{}, outcome)
	require.False(t, s.Tree().holds(), "the number may mean another session by now")
}

func TestTeardownSparesBystanders(t *testing.T) {
	bystander := start(t, `echo; exec sleep 60`)
	bystander.line()
	id := bystander.Identity
	id.StartTime -= 5
	for name, tree := range map[string]Tree{
		"another start time":       {Leader: id},
		"another's mark":           {Leader: id, Mark: "no such mark"},
		"init":                     {Leader: Identity{PID: 1, StartTime: 1, BootID: id.BootID}},
		"pid 0":                    {Leader: Identity{PID: 0, StartTime: 1, BootID: id.BootID}},
		"nothing":                  {},
		"another boot":             {Leader: Identity{PID: id.PID, StartTime: bystander.StartTime, BootID: "x"}, Mark: bystander.Mark},
		"one born later":           {Leader: Identity{PID: 1 << 30, StartTime: bystander.StartTime + 1, BootID: id.BootID}, Mark: bystander.Mark},
		"an empty mark and leader": {Leader: Identity{PID: 1 << 30, StartTime: 1, BootID: id.BootID}},
	} {
		t.Run(name, func(t *testing.T) {
			outcome, err := tree.Teardown(context.Background())
			require.NoError(t, err)
			assert.Zero(t, outcome.Signalled)
			assert.Equal(t, Owned, Verify(bystander.Identity))
		})
	}
	kill(t, bystander.Identity)
	bystander.end()
}

// After a restart nothing but a number ties the members of a session to a leader
// that has gone. Those with the mark are proven, the others are only reported.
func TestTeardownReportsWhatIsUnproven(t *testing.T) {
	s := start(t, `env -i bash -c 'echo $$; exec sleep 60' & sleep 60 & echo $!; exit 0`)
	a, b := s.pid(), s.pid()
	done := s.wait(context.Background())
	require.NoError(t, s.handleOfItsOwn(), "the leader ends")
	tree := Tree{Leader: s.Identity, Mark: s.Mark}
	outcome, err := tree.Teardown(context.Background())
	require.NoError(t, err)
	require.Len(t, outcome.Survivors, 1)
	unproven := outcome.Survivors[0].process()
	require.Contains(t, []int{a.PID, b.PID}, unproven.PID)
	require.Equal(t, Owned, Verify(unproven))
	kill(t, unproven)
	require.NoError(t, (<-done).err)
}

func (s *started) handleOfItsOwn() error {
	h, err := Open(s.Identity)
	if err != nil {
		return nil // it has ended already
	}
	defer h.Close()
	return h.Wait(context.Background())
}
