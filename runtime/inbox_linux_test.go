package runtime

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/unixsock"
)

// Whoever connects and says nothing, however often, neither keeps letters out
// nor the session from ending.
func TestInbox_silentPeers(t *testing.T) {
	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{})
	sessions, err := Sessions(r.rt.StateDir())
	require.NoError(t, err)
	require.Len(t, sessions, 1)
	var silent []net.Conn
	connect := func() {
		for range maxPeers {
			c, err := unixsock.Dial(s.s.Dir(), inboxName)
			require.NoError(t, err)
			silent = append(silent, c)
		}
	}
	connect()
	connect()
	id, err := Send(t.Context(), sessions[0], Task{Message: "true"})
	require.NoError(t, err)
	assert.NotEmpty(t, id)
	connect()
	s.end()
	for _, c := range silent {
		require.NoError(t, c.Close())
	}
}
