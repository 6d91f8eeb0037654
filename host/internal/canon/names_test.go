package canon

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCompatible(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"a:b/c", "a:b/c", true},
		{"a:b/c@0.2.0", "a:b/c@0.2.12", true},
		{"a:b/c@0.2.0", "a:b/c@0.3.0", false},
		{"a:b/c@1.2.3", "a:b/c@1.9.0", true},
		{"a:b/c@1.2.3", "a:b/c@2.0.0", false},
		{"a:b/c@0.0.1", "a:b/c@0.0.2", false},
		{"a:b/c@0.0.1", "a:b/c@0.0.1", true},
		{"a:b/c@0.2.0-rc.1", "a:b/c@0.2.0", false},
		{"a:b/c@0.2.0-rc.1", "a:b/c@0.2.0-rc.1", true},
		{"a:b/c@0.2.0+build", "a:b/c@0.2.1", true},
		{"a:b/c@0.2.0", "a:b/d@0.2.0", false},
		{"a:b/c", "a:b/c@0.2.0", false},
		{"a:b/c@0.2", "a:b/c@0.2.0", false},
		{"a:b/c@0.2.0.0", "a:b/c@0.2.0", false},
		{"a:b/c@0.2.99999999999999999999", "a:b/c@0.2.0", false},
		{"a:b/c@", "a:b/c@0.2.0", false},
	} {
		assert.Equal(t, tc.want, Compatible(tc.a, tc.b), "%s %s", tc.a, tc.b)
		assert.Equal(t, tc.want, Compatible(tc.b, tc.a), "%s %s", tc.b, tc.a)
	}
}

func TestPick(t *testing.T) {
	have := []string{"a:b/c@0.2.3", "a:b/c@0.2.10", "a:b/c@0.2.9", "a:b/c@1.0.0", "a:b/d@0.2.20", "a:b/c@0.2.11-rc"}
	assert.Equal(t, "a:b/c@0.2.3", Pick(have, "a:b/c@0.2.3"), "the same name is best")
	assert.Equal(t, "a:b/c@0.2.10", Pick(have, "a:b/c@0.2.0"), "else the highest version")
	assert.Equal(t, "a:b/c@1.0.0", Pick(have, "a:b/c@1.7.0"))
	assert.Equal(t, "", Pick(have, "a:b/c@0.3.0"))
	assert.Equal(t, "", Pick(nil, "a:b/c@0.3.0"))
}

func TestExportNames(t *testing.T) {
	iface, fn, ok := SplitExport("murmur:task/handler@0.1.0#handle")
	assert.True(t, ok)
	assert.Equal(t, "murmur:task/handler@0.1.0", iface)
	assert.Equal(t, "handle", fn)
	_, _, ok = SplitExport("_start")
	assert.False(t, ok)
	assert.Equal(t, "cabi_post_a:b/c#d", PostReturn("a:b/c#d"))
}
