package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SearchPath returns the directories in which binaries are looked up on a host
// with that environment: the system's own, and then those of the host's PATH
// that only the system's administrator can write to. What else a user has on the
// PATH, a command of that user could put anything into.
func SearchPath(host []string) []string {
	dirs := slices.Clone(systemPath)
	for _, dir := range filepath.SplitList(lookup(host, "PATH")) {
		if filepath.IsAbs(dir) && !slices.Contains(dirs, filepath.Clean(dir)) && onlySystemWrites(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

// Find returns the first executable file of that name in the directories.
func Find(dirs []string, name string) (path string, ok bool) {
	for _, dir := range dirs {
		if path := filepath.Join(dir, name); runs(path) {
			return path, true
		}
	}
	return "", false
}

// runs says whether path is a file that can be run.
func runs(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && executable(info)
}

// lookup returns a variable's value; the last one counts.
func lookup(env []string, name string) (value string) {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// writable reports whether commands may change what is at path: it is, or lies
// in, the workdir or a directory that they were granted.
func (c *Config) writable(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return inside(c.Workdir.path, path) || slices.ContainsFunc(c.Writable, func(dir string) bool { return inside(dir, path) })
}

// inside reports whether path is dir or lies in it. Both are real paths.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func joinPath(dirs []string) string { return strings.Join(dirs, string(os.PathListSeparator)) }
