package wasi

import (
	"context"
	"errors"
	"io"
	"math"
	"os"

	"github.com/murmur-capsule/murmur/host"
)

// A file is an open file, shared by a descriptor and its streams.
type file struct {
	fs    *files
	h     *os.File
	users int
}

func (f *file) retain() *file {
	f.users++
	return f
}

func (f *file) release() {
	if f.users--; f.users == 0 {
		_ = f.h.Close()
		f.fs.free()
	}
}

// read reads at an offset into p.
func (f *file) read(p []byte, off uint64) (int, error) {
	if off > math.MaxInt64 {
		return 0, codeInvalid
	}
	return f.h.ReadAt(p, int64(off))
}

// write writes at an offset. It is an error if not all of p could be written.
func (f *file) write(p []byte, off uint64) (int, error) {
	if off > math.MaxInt64-uint64(len(p)) {
		return 0, codeFileTooLarge
	}
	return f.h.WriteAt(p, int64(off))
}

func (d *descriptor) read(n, off uint64) (chunkRead, error) {
	f, err := d.asFile(flagRead)
	if err != nil {
		return chunkRead{}, err
	}
	p := d.i.buffer(int(min(n, maxRead)))
	got, err := f.read(p, off)
	end := errors.Is(err, io.EOF)
	if end {
		err = nil
	}
	return chunkRead{p[:got], end}, err
}

func (d *descriptor) write(p []byte, off uint64) (uint64, error) {
	f, err := d.asFile(flagWrite)
	if err != nil {
		return 0, err
	}
	n, err := f.write(p, off)
	if n > 0 {
		err = nil // the guest sees that it is less, and meets the error when it goes on
	}
	return uint64(n), err
}

func (d *descriptor) setSize(size uint64) error {
	f, err := d.asFile(flagWrite)
	if err != nil {
		return err
	}
	if size > math.MaxInt64 {
		return codeFileTooLarge
	}
	return f.h.Truncate(int64(size))
}

// advise checks what it is told, and needs no advice.
func (d *descriptor) advise(off, n uint64, _ advice) error {
	if _, err := d.asFile(0); err != nil {
		return err
	}
	if off > math.MaxInt64 || n > math.MaxInt64 {
		return codeInvalid
	}
	return nil
}

// sync has no effect on what is not open for writing.
func (d *descriptor) sync() error {
	switch {
	case d.file != nil && d.flags&flagWrite != 0:
		return d.file.h.Sync()
	case d.file != nil || d.fs.readOnly:
		return nil
	}
	h, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Sync()
}

// A fileSource is a stream that reads a file from an offset on.
type fileSource struct {
	*file
	off uint64
}

func (s *fileSource) read(p []byte) (int, error) {
	n, err := s.file.read(p, s.off)
	s.off += uint64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (*fileSource) wait(context.Context) error { return nil }

func (*fileSource) pollable(i *instance) *pollable { return &pollable{i: i} }

// A fileSink is a stream that writes a file from an offset on.
type fileSink struct {
	*file
	off uint64
}

func (s *fileSink) write(_ context.Context, p []byte) error {
	n, err := s.file.write(p, s.off)
	s.off += uint64(n)
	return err
}

func (s *fileSink) close() { s.release() }

// An appendSink is a stream that writes to the end of a file.
type appendSink struct{ *file }

func (s appendSink) write(_ context.Context, p []byte) error { return appendTo(s.h, p) }

func (s appendSink) close() { s.release() }

// appendAtEnd writes where the file ends now, for systems and file systems that
// cannot do that in one step.
func appendAtEnd(h *os.File, p []byte) error {
	info, err := h.Stat()
	if err != nil {
		return err
	}
	_, err = h.WriteAt(p, info.Size())
	return err
}

func (d *descriptor) readStream(off uint64) (host.Own[*inputStream], error) {
	f, err := d.asFile(flagRead)
	if err != nil {
		return host.Own[*inputStream]{}, err
	}
	return host.Own[*inputStream]{Value: &inputStream{i: d.i, src: &fileSource{f.retain(), off}}}, nil
}

func (d *descriptor) writeStream(off uint64) (host.Own[*outputStream], error) {
	f, err := d.asFile(flagWrite)
	if err != nil {
		return host.Own[*outputStream]{}, err
	}
	return host.Own[*outputStream]{Value: &outputStream{i: d.i, dst: &fileSink{f.retain(), off}}}, nil
}

func (d *descriptor) appendStream() (host.Own[*outputStream], error) {
	f, err := d.asFile(flagWrite)
	if err != nil {
		return host.Own[*outputStream]{}, err
	}
	return host.Own[*outputStream]{Value: &outputStream{i: d.i, dst: appendSink{f.retain()}}}, nil
}
