// Package wit is the contract between a guest and its runtime, in WIT: what a
// guest imports, what it exports, and what each call means. The text itself is
// in worlds.wit and below deps, with comments for authors of guests; this
// package carries it into Go programs.
package wit

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// The interfaces of the contract, as a guest's imports and exports name them.
const (
	// ToolRun is the shell tool, imported by a guest of any kind.
	ToolRun = "murmur:tool/run@0.1.0"
	// TaskHandler is exported by a guest that is called for each task.
	TaskHandler = "murmur:task/handler@0.1.0"
	// TaskQueue is imported by a guest that fetches its tasks.
	TaskQueue = "murmur:task/queue@0.1.0"
	// TaskTypes has the types of the two above.
	TaskTypes = "murmur:task/types@0.1.0"
	// CapsuleRun is exported by a guest that fetches its tasks.
	CapsuleRun = "murmur:capsule/run@0.1.0"
)

// The worlds of the contract, by their names in worlds.wit.
const (
	// WorldCapsule is that of a guest that is called for each task.
	WorldCapsule = "capsule"
	// WorldLooper is that of a guest that fetches its tasks.
	WorldLooper = "looper"
)

//go:embed worlds.wit deps
var files embed.FS

// FS returns the WIT files, laid out as tools expect them: worlds.wit and a
// folder of packages, deps.
func FS() fs.FS { return files }

// WriteTo writes the WIT files into a folder, which is made if it is not there.
// A file that exists is not overwritten; it is an error.
func WriteTo(dir string) error {
	if err := os.CopyFS(dir, files); err != nil {
		return fmt.Errorf("cannot write the WIT: %w", err)
	}
	return nil
}

// Text returns all packages as one WIT file: the worlds, then each package that
// they use as a nested one.
func Text() string {
	text := read("worlds.wit")
	deps, err := fs.Glob(files, "deps/*/*.wit")
	if err != nil {
		panic("internal error: " + err.Error())
	}
	for _, path := range deps {
		text += "\n" + nest(read(path))
	}
	return text
}

func read(path string) string {
	data, err := files.ReadFile(path)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return string(data)
}

// nest turns the text of a package into that of a nested package: what follows
// its declaration goes into braces.
func nest(text string) string {
	var out []string
	nested := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		name, declares := strings.CutSuffix(line, ";")
		switch {
		case !nested && declares && strings.HasPrefix(line, "package "):
			out, nested = append(out, name+" {"), true
		case nested && line != "":
			out = append(out, "    "+line)
		default:
			out = append(out, line)
		}
	}
	return strings.Join(append(out, "}"), "\n") + "\n"
}
