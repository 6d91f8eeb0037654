package wasi

import (
	"context"
	"errors"

	"github.com/murmur-capsule/murmur/host"
)

// ErrNoNetwork ends a guest that calls a function of wasi:http or wasi:sockets
// which cannot answer with an error code.
var ErrNoNetwork = errors.New("the guest has no network, and there is no grant that would give it one")

// refuse1 to refuse3 are functions that end the guest, by their number of
// parameters. Most are methods of resources that a guest without a network never
// gets.
func refuse1[A, R any](name string) host.Item {
	return host.Func1(name, func(context.Context, A) (r R, err error) { return r, ErrNoNetwork })
}

func refuse2[A, B, R any](name string) host.Item {
	return host.Func2(name, func(context.Context, A, B) (r R, err error) { return r, ErrNoNetwork })
}

func refuse3[A, B, C, R any](name string) host.Item {
	return host.Func3(name, func(context.Context, A, B, C) (r R, err error) { return r, ErrNoNetwork })
}
