package wasi

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

type borrowDescriptor = host.Borrow[*descriptor]

var (
	descriptorResource  = host.NewResource("descriptor", (*descriptor).drop)
	entryStreamResource = host.NewResource("directory-entry-stream", (*entryStream).drop)

	preopensPlugin = host.NewPlugin(named("wasi:filesystem/preopens"), descriptorResource.Used(),
		host.Method0("get-directories", (*instance).preopens))

	filesystemPlugin = host.NewPlugin(named("wasi:filesystem/types"),
		descriptorResource, entryStreamResource, inputResource.Used(), outputResource.Used(), errorResource.Used(),
		on1("read-via-stream", (*descriptor).readStream),
		on1("write-via-stream", (*descriptor).writeStream),
		on0("append-via-stream", (*descriptor).appendStream),
		on3("advise", act3((*descriptor).advise)),
		on0("sync-data", act0((*descriptor).sync)),
		on0("get-flags", (*descriptor).getFlags),
		on0("get-type", (*descriptor).getType),
		on1("set-size", act1((*descriptor).setSize)),
		on2("set-times", act2((*descriptor).setTimes)),
		on2("read", (*descriptor).read),
		on2("write", (*descriptor).write),
		on0("read-directory", (*descriptor).readDirectory),
		on0("sync", act0((*descriptor).sync)),
		on1("create-directory-at", act1((*descriptor).createDirectoryAt)),
		on0("stat", (*descriptor).stat),
		on2("stat-at", (*descriptor).statAt),
		on4("set-times-at", act4((*descriptor).setTimesAt)),
		on4("link-at", func(d *descriptor, follow pathFlags, from string, to borrowDescriptor, p string) (host.Unit, error) {
			return host.Unit{}, d.linkAt(follow, from, to.Value, p)
		}),
		on4("open-at", (*descriptor).openAt),
		on1("readlink-at", (*descriptor).readlinkAt),
		on1("remove-directory-at", act1((*descriptor).removeDirectoryAt)),
		on3("rename-at", func(d *descriptor, from string, to borrowDescriptor, p string) (host.Unit, error) {
			return host.Unit{}, d.renameAt(from, to.Value, p)
		}),
		on2("symlink-at", act2((*descriptor).symlinkAt)),
		on1("unlink-file-at", act1((*descriptor).unlinkFileAt)),
		host.Func2("[method]descriptor.is-same-object", func(_ context.Context, d, other borrowDescriptor) (bool, error) {
			return d.Value.isSameObject(other.Value), nil
		}),
		on0("metadata-hash", (*descriptor).metadataHash),
		on2("metadata-hash-at", (*descriptor).metadataHashAt),
		host.Func1("[method]directory-entry-stream.read-directory-entry",
			func(_ context.Context, s host.Borrow[*entryStream]) (fsResult[*directoryEntry], error) {
				return fsAnswer(s.Value.next())
			}),
		host.Func1("filesystem-error-code", func(_ context.Context, e host.Borrow[*streamFailure]) (*errorCode, error) {
			return &e.Value.code, nil
		}),
	)
)

// on0 to on4 make functions of WIT from methods of a descriptor, by their number
// of parameters.
func on0[R any](name string, fn func(*descriptor) (R, error)) host.Item {
	return host.Func1("[method]descriptor."+name, func(_ context.Context, d borrowDescriptor) (fsResult[R], error) {
		return fsAnswer(fn(d.Value))
	})
}

func on1[A, R any](name string, fn func(*descriptor, A) (R, error)) host.Item {
	return host.Func2("[method]descriptor."+name, func(_ context.Context, d borrowDescriptor, a A) (fsResult[R], error) {
		return fsAnswer(fn(d.Value, a))
	})
}

func on2[A, B, R any](name string, fn func(*descriptor, A, B) (R, error)) host.Item {
	return host.Func3("[method]descriptor."+name, func(_ context.Context, d borrowDescriptor, a A, b B) (fsResult[R], error) {
		return fsAnswer(fn(d.Value, a, b))
	})
}

func on3[A, B, C, R any](name string, fn func(*descriptor, A, B, C) (R, error)) host.Item {
	return host.Func4("[method]descriptor."+name, func(_ context.Context, d borrowDescriptor, a A, b B, c C) (fsResult[R], error) {
		return fsAnswer(fn(d.Value, a, b, c))
	})
}

func on4[A, B, C, D, R any](name string, fn func(*descriptor, A, B, C, D) (R, error)) host.Item {
	return host.Func5("[method]descriptor."+name, func(_ context.Context, d borrowDescriptor, a A, b B, c C, e D) (fsResult[R], error) {
		return fsAnswer(fn(d.Value, a, b, c, e))
	})
}

// act0 to act4 are methods that give nothing, as ones that give a Unit.
func act0(fn func(*descriptor) error) func(*descriptor) (host.Unit, error) {
	return func(d *descriptor) (host.Unit, error) { return host.Unit{}, fn(d) }
}

func act1[A any](fn func(*descriptor, A) error) func(*descriptor, A) (host.Unit, error) {
	return func(d *descriptor, a A) (host.Unit, error) { return host.Unit{}, fn(d, a) }
}

func act2[A, B any](fn func(*descriptor, A, B) error) func(*descriptor, A, B) (host.Unit, error) {
	return func(d *descriptor, a A, b B) (host.Unit, error) { return host.Unit{}, fn(d, a, b) }
}

func act3[A, B, C any](fn func(*descriptor, A, B, C) error) func(*descriptor, A, B, C) (host.Unit, error) {
	return func(d *descriptor, a A, b B, c C) (host.Unit, error) { return host.Unit{}, fn(d, a, b, c) }
}

func act4[A, B, C, D any](fn func(*descriptor, A, B, C, D) error) func(*descriptor, A, B, C, D) (host.Unit, error) {
	return func(d *descriptor, a A, b B, c C, e D) (host.Unit, error) { return host.Unit{}, fn(d, a, b, c, e) }
}
