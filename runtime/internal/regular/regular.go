// Package regular opens files of which only regular ones make sense, where
// something else could have been put in their place: a named pipe would hold
// whoever opens it for ever, a device or a link would lead elsewhere.
package regular

import (
	"fmt"
	"io/fs"
	"os"
)

// Open opens the file at path for reading.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile is [os.OpenFile] for regular files alone. It never waits, and follows
// no link in the last part of path.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|atOnce, perm)
	if err != nil {
		return nil, explain(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// explain says that something else is in the file's place, where that is why it
// cannot be opened.
func explain(path string, err error) error {
	if info, e := os.Lstat(path); e == nil && !info.Mode().IsRegular() {
		return notRegular(path, info)
	}
	return err
}

func notRegular(path string, info fs.FileInfo) error {
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s, not a regular file", kind(info.Mode()))}
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// LockFlags open, or make, a file that is locked for what it stands for and never
// read: no pipe in its place holds the opener.
const LockFlags = os.O_CREATE | os.O_RDONLY | atOnce
