package provenance_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/provenance"
)

const (
	trusted   = provenance.Trusted
	untrusted = provenance.Untrusted
)

func ptr(t provenance.Trust) *provenance.Trust { return &t }

func TestDerive_FullTable(t *testing.T) {
	inherited := []*provenance.Trust{nil, ptr(trusted), ptr(untrusted)}
	table := map[string][3]provenance.Trust{
		"user":       {trusted, trusted, trusted},
		"schedule":   {trusted, trusted, trusted},
		"system":     {trusted, trusted, trusted},
		"event":      {untrusted, untrusted, untrusted},
		"peer":       {untrusted, trusted, untrusted},
		"completion": {untrusted, trusted, untrusted},
	}
	require.Len(t, table, len(provenance.Origins()))
	for _, origin := range provenance.Origins() {
		row, ok := table[origin.String()]
		require.True(t, ok, origin)
		for column, want := range row {
			got := provenance.Derive(origin, inherited[column])
			assert.Equal(t, origin, got.Origin(), "%s, column %d", origin, column)
			assert.Equal(t, want, got.Trust(), "%s, column %d", origin, column)
		}
	}
}

func TestDerive_ValuesThatAreNone(t *testing.T) {
	assert.Equal(t, provenance.Provenance{}, provenance.Derive(provenance.Origin(200), ptr(trusted)))
	assert.Equal(t, untrusted, provenance.Derive(provenance.Peer, ptr(provenance.Trust(7))).Trust())
	assert.Equal(t, "event/untrusted", provenance.Provenance{}.String())
}

func TestCompletion_UntrustedAllTheWay(t *testing.T) {
	task := provenance.Derive(provenance.Event, nil)
	for range 5 {
		task = provenance.Caused(provenance.Completion, &task)
		assert.Equal(t, untrusted, task.Trust())
	}
	task = provenance.Derive(provenance.User, nil)
	for range 5 {
		task = provenance.Caused(provenance.Completion, &task)
		assert.Equal(t, trusted, task.Trust())
	}
	assert.Equal(t, untrusted, provenance.Caused(provenance.Completion, nil).Trust())
}

func TestRestore_NeverRaisesTrust(t *testing.T) {
	for _, origin := range provenance.Origins() {
		for _, inherited := range []*provenance.Trust{nil, ptr(trusted), ptr(untrusted)} {
			p := provenance.Derive(origin, inherited)
			stored := p.Trust()
			assert.Equal(t, p, provenance.Derive(p.Origin(), &stored), "a derived pair is restored as it was")
			back, err := provenance.Restore(p.Origin().String(), p.Trust().String())
			require.NoError(t, err)
			assert.Equal(t, p, back)
		}
	}
	for _, pair := range [][2]string{
		{"event", "trusted"}, {"user", "untrusted"}, {"system", "untrusted"}, {"schedule", "untrusted"},
		{"User", "trusted"}, {"user", "Trusted"}, {"", ""}, {"peer", ""}, {"peer", "trusted "},
	} {
		back, err := provenance.Restore(pair[0], pair[1])
		assert.Error(t, err, pair)
		assert.Equal(t, provenance.Provenance{}, back, pair)
	}
}

func TestParse_ExactLowercase(t *testing.T) {
	for _, origin := range provenance.Origins() {
		got, err := provenance.ParseOrigin(origin.String())
		require.NoError(t, err)
		assert.Equal(t, origin, got)
	}
	for _, trust := range []provenance.Trust{trusted, untrusted} {
		got, err := provenance.ParseTrust(trust.String())
		require.NoError(t, err)
		assert.Equal(t, trust, got)
	}
	for _, name := range []string{"", "USER", "User", " user", "user\n", "users", "0"} {
		origin, err := provenance.ParseOrigin(name)
		assert.Error(t, err, "%q", name)
		assert.Equal(t, provenance.Event, origin)
	}
	for _, name := range []string{"", "Trusted", "TRUSTED", " trusted", "true", "1"} {
		trust, err := provenance.ParseTrust(name)
		assert.Error(t, err, "%q", name)
		assert.Equal(t, untrusted, trust)
	}
}

func TestWIT_CaseOrder(t *testing.T) {
	want := []string{"user", "peer", "schedule", "event", "completion", "system"}
	for i, origin := range provenance.Origins() {
		assert.Equal(t, want[i], origin.String())
		assert.EqualValues(t, i, origin.WIT())
	}
	assert.Equal(t, provenance.Event.WIT(), provenance.Origin(99).WIT())
	assert.EqualValues(t, 0, trusted.WIT())
	assert.EqualValues(t, 1, untrusted.WIT())
	assert.EqualValues(t, 1, provenance.Trust(9).WIT())
}

func TestFromWire_HonoursPeerAndCompletionAlone(t *testing.T) {
	cases := []struct{ origin, trust, want string }{
		{"peer", "trusted", "peer/trusted"},
		{"peer", "untrusted", "peer/untrusted"},
		{"peer", "", "peer/untrusted"},
		{"peer", "TRUSTED", "peer/untrusted"},
		{"completion", "trusted", "completion/trusted"},
		{"completion", "untrusted", "completion/untrusted"},
		{"completion", "", "completion/untrusted"},
		{"user", "trusted", "event/untrusted"},
		{"system", "trusted", "event/untrusted"},
		{"schedule", "trusted", "event/untrusted"},
		{"event", "trusted", "event/untrusted"},
		{"Peer", "trusted", "event/untrusted"},
		{"", "trusted", "event/untrusted"},
		{"", "", "event/untrusted"},
	}
	for _, c := range cases {
		header := http.Header{}
		header.Set(provenance.HeaderOrigin, c.origin)
		header.Set(provenance.HeaderTrust, c.trust)
		assert.Equal(t, c.want, provenance.FromWire(header.Get).String(), "%s %s", c.origin, c.trust)
	}
	assert.Equal(t, "event/untrusted", provenance.FromWire(http.Header{}.Get).String())
}

func TestOutbound_IsAPeerWithTheSendersTrust(t *testing.T) {
	assert.Equal(t, "peer/untrusted", provenance.Outbound(nil).String())
	for _, origin := range provenance.Origins() {
		for _, inherited := range []*provenance.Trust{nil, ptr(trusted), ptr(untrusted)} {
			sender := provenance.Derive(origin, inherited)
			header := http.Header{}
			sent := provenance.Outbound(&sender)
			sent.Headers(header.Set)
			assert.Equal(t, provenance.Peer, sent.Origin())
			assert.Equal(t, sender.Trust(), sent.Trust())
			assert.Equal(t, sent, provenance.FromWire(header.Get), "what is sent is what arrives")
		}
	}
}

func TestLowest(t *testing.T) {
	assert.Equal(t, untrusted, provenance.Lowest())
	assert.Equal(t, trusted, provenance.Lowest(trusted, trusted))
	assert.Equal(t, untrusted, provenance.Lowest(trusted, untrusted, trusted))
	assert.Equal(t, untrusted, provenance.Lowest(provenance.Trust(3)))
}

func TestJSON_IsOutputOnly(t *testing.T) {
	type pair struct {
		Origin provenance.Origin `json:"origin"`
		Trust  provenance.Trust  `json:"trust"`
	}
	out, err := json.Marshal(pair{provenance.Completion, trusted})
	require.NoError(t, err)
	assert.JSONEq(t, `{"origin":"completion","trust":"trusted"}`, string(out))
	for _, in := range []string{`{"trust":"trusted"}`, `{"trust":1}`, `{"origin":1}`, `{"origin":"user"}`} {
		var p pair
		assert.Error(t, json.Unmarshal([]byte(in), &p), in)
		assert.Equal(t, pair{}, p, in)
	}
}
