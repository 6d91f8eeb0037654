package wasi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestErrorCodes(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "open", Path: "secret", Err: syscall.EACCES}, "access"},
		{fmt.Errorf("deep: %w", syscall.ENOSPC), "insufficient-space"},
		{syscall.EDQUOT, "quota"},
		{syscall.EXDEV, "cross-device"},
		{syscall.ETXTBSY, "text-file-busy"},
		{syscall.EMFILE, "would-block"},
		{codeLoop, "loop"},
		{fs.ErrNotExist, "no-entry"},
		{os.ErrClosed, "bad-descriptor"},
		{io.ErrClosedPipe, "pipe"},
		{errors.New("path escapes from parent"), "not-permitted"},
		{errors.New("anything else"), "io"},
		{context.Canceled, "io"},
		{syscall.Errno(9999), "io"},
	} {
		assert.Equal(t, tc.want, codeOf(tc.err).String(), "%v", tc.err)
	}
	assert.Len(t, codeNames, int(codeCrossDevice)+1)
	assert.EqualError(t, codeCrossDevice, "cross-device")
	ok, err := fsAnswer(1, nil)
	assert.NoError(t, err)
	assert.Equal(t, 1, ok.OK)
	bad, err := fsAnswer(1, os.ErrExist)
	assert.NoError(t, err, "what fails is the answer, not the call")
	assert.Equal(t, codeExist, bad.Err)
}

func TestDescriptorTypes(t *testing.T) {
	for mode, want := range map[fs.FileMode]descriptorType{
		0: typeRegularFile, fs.ModeDir: typeDirectory, fs.ModeSymlink: typeSymbolicLink, fs.ModeNamedPipe: typeFIFO,
		fs.ModeSocket: typeSocket, fs.ModeDevice: typeBlockDevice, fs.ModeDevice | fs.ModeCharDevice: typeCharacterDevice,
		fs.ModeIrregular: typeUnknown,
	} {
		assert.Equal(t, want, descriptorTypeOf(mode|0o644), mode.String())
	}
}
