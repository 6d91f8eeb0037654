package runtime

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
)

// What the diagnosis says is what a session gets.
func TestDiagnose(t *testing.T) {
	d := Diagnose(t.Context())
	require.Len(t, d.Mechanisms, len(containment.Mechanisms()))
	for _, m := range d.Mechanisms {
		assert.Equal(t, m.OK, m.Why == "", "%s works, or it is said why not", m.Name)
	}
	require.Len(t, d.Classes, 3)
	for _, c := range d.Classes {
		assert.Equal(t, c.Available, c.Receipt != nil, c.Class)
		assert.Equal(t, c.Available, len(c.Missing) == 0, c.Class)
	}
	assert.True(t, d.Classes[0].Available, "advisory is always there")
	assert.Equal(t, supervisor.Supported, d.Supervision.Works, d.Supervision.Why)

	r := newRig(t)
	s := r.start(r.load("runner"), SessionOptions{})
	assert.Equal(t, d.Default, string(s.s.Containment().Class))
	s.end()
	for _, c := range d.Classes {
		if c.Class == d.Default {
			s := r.start(r.load("runner", class(containment.Class(c.Class))), SessionOptions{})
			assert.Equal(t, c.Receipt, s.s.Containment())
			s.end()
		}
	}

	text, err := json.Marshal(d)
	require.NoError(t, err)
	var again Diagnosis
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, d, again)
}
