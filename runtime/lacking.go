package runtime

import (
	"fmt"
	"os"
	"strings"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// Lacking tells what a manifest names that is not on this host, a line each:
// binaries of the allow list, whose commands will be refused, and granted paths,
// without which no session starts. A session has the last word: a binary that
// its commands may replace is none either.
func (r *Runtime) Lacking(m *capsule.Manifest) []string {
	var lines []string
	path := shell.SearchPath(r.opts.Environ)
	for i, name := range m.Capabilities.Shell.Allow {
		if _, ok := shell.Find(path, name); !ok {
			lines = append(lines, fmt.Sprintf("capabilities.shell.allow[%d]: this host has no %s in %s",
				i, shell.Quote(name), strings.Join(path, string(os.PathListSeparator))))
		}
	}
	files := m.Capabilities.Filesystem
	lines = append(lines, absent("read", files.Read)...)
	return append(lines, absent("write", files.Write)...)
}

// absent tells which granted paths cannot be looked at.
func absent(side string, paths []string) (lines []string) {
	for i, p := range paths {
		if _, err := os.Stat(containment.AtHome(p, userHome())); err != nil {
			lines = append(lines, fmt.Sprintf("capabilities.filesystem.%s[%d]: no session can start: %v", side, i, err))
		}
	}
	return lines
}
