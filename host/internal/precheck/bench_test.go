package precheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	pre "github.com/murmur-capsule/murmur/host/internal/precheck"
)

// BenchmarkCheck and BenchmarkRewrite go through 10,000 functions that each switch
// over 100 cases.
func BenchmarkCheck(b *testing.B) {
	data := manyFunctions(10_000, switchOf(100))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_, err := pre.Check(data, pre.Limits{})
		require.NoError(b, err)
	}
}

func BenchmarkRewrite(b *testing.B) {
	data := manyFunctions(10_000, switchOf(100))
	b.SetBytes(int64(len(data)))
	m, err := pre.Check(data, pre.Limits{})
	require.NoError(b, err)
	for b.Loop() {
		m.Rewrite(pre.Rewrite{Control: true})
	}
}
