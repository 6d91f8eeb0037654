package wasi

import (
	"context"
	"os"
	"path"
	"strings"

	"github.com/murmur-capsule/murmur/host"
)

const (
	// maxOpen is how many files and directories a guest may have open. The host
	// pays for each with a descriptor of its own.
	maxOpen = 256
	// maxPath is the length of a path, in bytes.
	maxPath = 4096
)

// files is the file system of one instance: a directory, and what is open in it.
type files struct {
	root     *os.Root
	readOnly bool
	open     int
}

// reserve counts something open that is about to be opened.
func (f *files) reserve() error {
	if f.open == maxOpen {
		return codeWouldBlock
	}
	f.open++
	return nil
}

func (f *files) free() { f.open-- }

// changeable fails if nothing may be changed.
func (f *files) changeable() error {
	if f.readOnly {
		return codeReadOnly
	}
	return nil
}

// local makes a guest's path one below a directory. Whether it stays there is for
// the directory's handle to see.
func local(p string) (string, error) {
	switch {
	case p == "":
		return "", codeNoEntry
	case len(p) > maxPath:
		return "", codeNameTooLong
	case p[0] == '/':
		return "", codeNotPermitted
	case strings.IndexByte(p, 0) >= 0:
		return "", codeInvalid
	}
	return p, nil
}

// inside tells whether a path, cleaned, does not lead upwards.
func inside(p string) bool {
	p = path.Clean(p)
	return !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../")
}

// preopens are what a guest finds open: its directory.
func (i *instance) preopens(context.Context) ([]preopen, error) {
	if i.files == nil {
		return nil, nil
	}
	d := &descriptor{i: i, fs: i.files, flags: i.files.directoryFlags(), root: i.files.root, path: "."}
	return []preopen{{host.Own[*descriptor]{Value: d}, WorkdirPath}}, nil
}

func (f *files) directoryFlags() descriptorFlags {
	if f.readOnly {
		return flagRead
	}
	return flagRead | flagMutateDirectory
}

// A descriptor is an open file or directory: one of file and root is set.
type descriptor struct {
	i     *instance
	fs    *files
	flags descriptorFlags
	file  *file
	root  *os.Root
	// path is where it was opened, from the workdir on.
	path string
}

func (d *descriptor) drop() {
	switch {
	case d.file != nil:
		d.file.release()
	case d.root != d.fs.root:
		_ = d.root.Close()
		d.fs.free()
	}
}

// asFile is the file, for functions that need one.
func (d *descriptor) asFile(need descriptorFlags) (*file, error) {
	if d.file == nil || d.flags&need != need {
		return nil, codeBadDescriptor
	}
	return d.file, nil
}

// at is the directory and a path in it, for functions that look at what is there.
func (d *descriptor) at(p string) (*os.Root, string, error) {
	if d.root == nil {
		return nil, "", codeNotDirectory
	}
	name, err := local(p)
	return d.root, name, err
}

// changeAt is at for functions that change what is there.
func (d *descriptor) changeAt(p string) (*os.Root, string, error) {
	root, name, err := d.at(p)
	if err == nil {
		err = d.fs.changeable()
	}
	return root, name, err
}
