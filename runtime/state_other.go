//go:build !unix

package runtime

import (
	"io/fs"
	"os"
)

// checkOwner has nothing to compare where files have no numeric owner.
func checkOwner(string, fs.FileInfo) error { return nil }

// checkMode has nothing to look at where modes do not say who may do what.
func checkMode(string, fs.FileInfo, fs.FileMode) error { return nil }

// writeAtomic puts data at path, where nothing makes that atomic.
func writeAtomic(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }

// syncDir does nothing where directories cannot be synced.
func syncDir(string) error { return nil }
