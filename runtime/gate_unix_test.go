//go:build unix

package runtime

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/stretchr/testify/require"
)

// A gate holds commands until the test opens it: a command that reads it blocks.
type gate struct{ path string }

func (r *rig) gate() gate {
	dir, err := os.MkdirTemp(r.gates, "")
	require.NoError(r, err)
	path := filepath.Join(dir, "gate")
	require.NoError(r, syscall.Mkfifo(path, 0o600))
	return gate{path}
}
