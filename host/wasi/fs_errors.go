package wasi

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/internal/rootfs"
)

// An errorCode is enum error-code of wasi:filesystem/types. It is an error in Go
// too, and all that a guest learns of one.
type errorCode uint8

const (
	codeAccess errorCode = iota
	codeWouldBlock
	codeAlready
	codeBadDescriptor
	codeBusy
	codeDeadlock
	codeQuota
	codeExist
	codeFileTooLarge
	codeIllegalByteSequence
	codeInProgress
	codeInterrupted
	codeInvalid
	codeIO
	codeIsDirectory
	codeLoop
	codeTooManyLinks
	codeMessageSize
	codeNameTooLong
	codeNoDevice
	codeNoEntry
	codeNoLock
	codeInsufficientMemory
	codeInsufficientSpace
	codeNotDirectory
	codeNotEmpty
	codeNotRecoverable
	codeUnsupported
	codeNoTTY
	codeNoSuchDevice
	codeOverflow
	codeNotPermitted
	codePipe
	codeReadOnly
	codeInvalidSeek
	codeTextFileBusy
	codeCrossDevice
)

var codeNames = []string{
	"access", "would-block", "already", "bad-descriptor", "busy", "deadlock", "quota", "exist", "file-too-large",
	"illegal-byte-sequence", "in-progress", "interrupted", "invalid", "io", "is-directory", "loop", "too-many-links",
	"message-size", "name-too-long", "no-device", "no-entry", "no-lock", "insufficient-memory", "insufficient-space",
	"not-directory", "not-empty", "not-recoverable", "unsupported", "no-tty", "no-such-device", "overflow",
	"not-permitted", "pipe", "read-only", "invalid-seek", "text-file-busy", "cross-device",
}

// WITEnum are the names of the cases.
func (errorCode) WITEnum() []string { return codeNames }

// String is the name of the case.
func (c errorCode) String() string { return codeNames[c] }

// Error is the name of the case.
func (c errorCode) Error() string { return c.String() }

// codes are the system's errors. Some systems give one number to several names.
var codes = func() map[syscall.Errno]errorCode {
	m := map[syscall.Errno]errorCode{}
	for _, e := range []struct {
		errno syscall.Errno
		code  errorCode
	}{
		{syscall.EACCES, codeAccess}, {syscall.EAGAIN, codeWouldBlock}, {syscall.EALREADY, codeAlready},
		{syscall.EBADF, codeBadDescriptor}, {syscall.EBUSY, codeBusy}, {syscall.EDEADLK, codeDeadlock},
		{syscall.EDQUOT, codeQuota}, {syscall.EEXIST, codeExist}, {syscall.EFBIG, codeFileTooLarge},
		{syscall.EILSEQ, codeIllegalByteSequence}, {syscall.EINPROGRESS, codeInProgress}, {syscall.EINTR, codeInterrupted},
		{syscall.EINVAL, codeInvalid}, {syscall.EIO, codeIO}, {syscall.EISDIR, codeIsDirectory}, {syscall.ELOOP, codeLoop},
		{syscall.EMLINK, codeTooManyLinks}, {syscall.EMSGSIZE, codeMessageSize}, {syscall.ENAMETOOLONG, codeNameTooLong},
		{syscall.ENODEV, codeNoDevice}, {syscall.ENOENT, codeNoEntry}, {syscall.ENOLCK, codeNoLock},
		{syscall.ENOMEM, codeInsufficientMemory}, {syscall.ENOSPC, codeInsufficientSpace}, {syscall.ENOTDIR, codeNotDirectory},
		{syscall.ENOTEMPTY, codeNotEmpty}, {syscall.ENOSYS, codeUnsupported}, {syscall.ENOTSUP, codeUnsupported},
		{syscall.ENOTTY, codeNoTTY}, {syscall.ENXIO, codeNoSuchDevice}, {syscall.EOVERFLOW, codeOverflow},
		{syscall.EPERM, codeNotPermitted}, {syscall.EPIPE, codePipe}, {syscall.EROFS, codeReadOnly},
		{syscall.ESPIPE, codeInvalidSeek}, {syscall.ETXTBSY, codeTextFileBusy}, {syscall.EXDEV, codeCrossDevice},
		// WASI has no code for too many open files.
		{syscall.EMFILE, codeWouldBlock}, {syscall.ENFILE, codeWouldBlock},
	} {
		m[e.errno] = e.code
	}
	return m
}()

// codeOf is what a guest is told of an error.
func codeOf(err error) errorCode {
	var code errorCode
	if errors.As(err, &code) {
		return code
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		if code, ok := codes[errno]; ok {
			return code
		}
	}
	for _, e := range []struct {
		is   error
		code errorCode
	}{
		{fs.ErrNotExist, codeNoEntry}, {fs.ErrExist, codeExist}, {fs.ErrPermission, codeAccess},
		{fs.ErrInvalid, codeInvalid}, {os.ErrClosed, codeBadDescriptor}, {io.ErrClosedPipe, codePipe},
	} {
		if errors.Is(err, e.is) {
			return e.code
		}
	}
	if rootfs.Escapes(err) {
		return codeNotPermitted
	}
	return codeIO
}

// fsResult is what the functions of the file system answer.
type fsResult[T any] = host.Result[T, errorCode]

// fsAnswer makes an answer of what came of an operation.
func fsAnswer[T any](v T, err error) (fsResult[T], error) {
	if err != nil {
		return host.Fail[T](codeOf(err)), nil
	}
	return host.Ok[T, errorCode](v), nil
}
