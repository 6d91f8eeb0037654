package wasi

import (
	"io/fs"
	"os"
	"path"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/internal/rootfs"
)

// openAt opens a file or a directory. What may be changed through it is decided
// by the workdir, and not passed on from directory to directory by flags: guests
// do not ask for mutate-directory when they open one.
func (d *descriptor) openAt(follow pathFlags, p string, how openFlags, flags descriptorFlags) (host.Own[*descriptor], error) {
	var none host.Own[*descriptor]
	root, name, err := d.at(p)
	if err != nil {
		return none, err
	}
	if flags&(flagWrite|flagMutateDirectory) != 0 || how&(openCreate|openTruncate) != 0 {
		if err := d.fs.changeable(); err != nil {
			return none, err
		}
	}
	if how&openDirectory != 0 && how&^openDirectory != 0 {
		return none, codeInvalid
	}
	if err := d.fs.reserve(); err != nil {
		return none, err
	}
	opened, err := d.open(root, name, follow, how, flags)
	if err != nil {
		d.fs.free()
		return none, err
	}
	return host.Own[*descriptor]{Value: opened}, nil
}

func (d *descriptor) open(root *os.Root, name string, follow pathFlags, how openFlags, flags descriptorFlags) (*descriptor, error) {
	h, info, err := rootfs.Open(root, name, osFlags(how, flags), follow&flagSymlinkFollow != 0)
	if err != nil {
		return nil, err
	}
	opened := &descriptor{i: d.i, fs: d.fs, flags: flags &^ flagMutateDirectory, path: path.Join(d.path, name)}
	if !info.IsDir() {
		if how&openDirectory != 0 {
			_ = h.Close()
			return nil, codeNotDirectory
		}
		opened.file = &file{fs: d.fs, h: h, users: 1}
		return opened, nil
	}
	defer h.Close()
	opened.flags = d.fs.directoryFlags()
	opened.root, err = openDirectoryAs(root, name, info)
	return opened, err
}

// openDirectoryAs opens the directory that was found at a path, and no other that
// is there now.
func openDirectoryAs(root *os.Root, name string, found fs.FileInfo) (*os.Root, error) {
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	info, err := sub.Stat(".")
	if err == nil && !os.SameFile(info, found) {
		err = codeNoEntry
	}
	if err != nil {
		_ = sub.Close()
		return nil, err
	}
	return sub, nil
}

// osFlags are the flags as package os has them. A file that is opened neither to
// read nor to write is opened to read.
func osFlags(how openFlags, flags descriptorFlags) int {
	out := os.O_RDONLY
	switch flags & (flagRead | flagWrite) {
	case flagRead | flagWrite:
		out = os.O_RDWR
	case flagWrite:
		out = os.O_WRONLY
	}
	if flags&anySync != 0 {
		out |= os.O_SYNC
	}
	if how&openCreate != 0 {
		out |= os.O_CREATE
	}
	if how&openExclusive != 0 {
		out |= os.O_EXCL
	}
	if how&openTruncate != 0 {
		out |= os.O_TRUNC
	}
	return out
}
