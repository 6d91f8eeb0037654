package wasi

import (
	"io"
	"io/fs"
	"os"
	"path"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/host"
)

const directoryPerm = 0o777 // the host's umask applies

func (d *descriptor) createDirectoryAt(p string) error {
	root, name, err := d.changeAt(p)
	if err != nil {
		return err
	}
	return root.Mkdir(name, directoryPerm)
}

func (d *descriptor) removeDirectoryAt(p string) error {
	return d.remove(p, func(m fs.FileMode) error {
		if !m.IsDir() {
			return codeNotDirectory
		}
		return nil
	})
}

func (d *descriptor) unlinkFileAt(p string) error {
	return d.remove(p, func(m fs.FileMode) error {
		if m.IsDir() {
			return codeIsDirectory
		}
		return nil
	})
}

func (d *descriptor) remove(p string, fits func(fs.FileMode) error) error {
	root, name, err := d.changeAt(p)
	if err != nil {
		return err
	}
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if err := fits(info.Mode()); err != nil {
		return err
	}
	if path.Clean(name) == "." {
		return codeInvalid
	}
	return root.Remove(name)
}

func (d *descriptor) renameAt(from string, to *descriptor, p string) error {
	return d.across(from, to, p, (*os.Root).Rename)
}

func (d *descriptor) linkAt(follow pathFlags, from string, to *descriptor, p string) error {
	root, name, err := d.at(from)
	if err != nil {
		return err
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return codeNotPermitted
	case follow&flagSymlinkFollow != 0 && info.Mode()&fs.ModeSymlink != 0:
		return codeUnsupported
	}
	return d.across(from, to, p, (*os.Root).Link)
}

// across does what takes two paths. Those of different directories are both taken
// from the workdir, for which the directories must still be where they were.
func (d *descriptor) across(from string, to *descriptor, p string, do func(*os.Root, string, string) error) error {
	root, name, err := d.changeAt(from)
	if err != nil {
		return err
	}
	other, target, err := to.changeAt(p)
	if err != nil {
		return err
	}
	if root == other {
		return do(root, name, target)
	}
	if !inside(name) || !inside(target) {
		return codeNotPermitted
	}
	for _, dir := range []*descriptor{d, to} {
		if err := dir.stillThere(); err != nil {
			return err
		}
	}
	return do(d.fs.root, path.Join(d.path, name), path.Join(to.path, target))
}

// symlinkAt makes a symbolic link. One that would lead out of the workdir is
// refused: no guest could follow it, but a program that finds it there might.
func (d *descriptor) symlinkAt(target, p string) error {
	root, name, err := d.changeAt(p)
	if err != nil {
		return err
	}
	if _, err := local(target); err != nil {
		return err
	}
	if !inside(path.Join(d.path, path.Dir(name), target)) {
		return codeNotPermitted
	}
	return root.Symlink(target, name)
}

func (d *descriptor) readlinkAt(p string) (string, error) {
	root, name, err := d.at(p)
	if err != nil {
		return "", err
	}
	target, err := root.Readlink(name)
	switch {
	case err != nil:
		return "", err
	case path.IsAbs(target):
		return "", codeNotPermitted
	case !utf8.ValidString(target):
		return "", codeIllegalByteSequence
	}
	return target, nil
}

// entryBatch is how many entries of a directory are read at a time.
const entryBatch = 64

// An entryStream reads a directory.
type entryStream struct {
	fs    *files
	h     *os.File
	batch []os.DirEntry
}

func (d *descriptor) readDirectory() (host.Own[*entryStream], error) {
	var none host.Own[*entryStream]
	if d.root == nil {
		return none, codeNotDirectory
	}
	if err := d.fs.reserve(); err != nil {
		return none, err
	}
	h, err := d.root.Open(".")
	if err != nil {
		d.fs.free()
		return none, err
	}
	return host.Own[*entryStream]{Value: &entryStream{fs: d.fs, h: h}}, nil
}

func (s *entryStream) drop() {
	_ = s.h.Close()
	s.fs.free()
}

// next is the next entry, or nil at the end. A name that is not UTF-8 is an error,
// after which the directory can be read on.
func (s *entryStream) next() (*directoryEntry, error) {
	if len(s.batch) == 0 {
		batch, err := s.h.ReadDir(entryBatch)
		if err == io.EOF {
			return nil, nil
		}
		if err != nil && len(batch) == 0 {
			return nil, err
		}
		s.batch = batch
	}
	e := s.batch[0]
	s.batch = s.batch[1:]
	if !utf8.ValidString(e.Name()) {
		return nil, codeIllegalByteSequence
	}
	return &directoryEntry{descriptorTypeOf(e.Type()), e.Name()}, nil
}
