package wasi

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/murmur-capsule/murmur/host"
)

// maxRandom is how many random bytes a guest can have at a time.
const maxRandom = 64 << 20

// All random numbers are the system's good ones, also those that need not be.
// They are there even while the guest's allocator runs: see host.DuringRealloc.
var (
	randomPlugin = host.NewPlugin(named("wasi:random/random"),
		host.DuringRealloc(host.Func1("get-random-bytes", randomBytes)),
		host.DuringRealloc(host.Func0("get-random-u64", randomNumber)),
	)
	insecurePlugin = host.NewPlugin(named("wasi:random/insecure"),
		host.DuringRealloc(host.Func1("get-insecure-random-bytes", randomBytes)),
		host.DuringRealloc(host.Func0("get-insecure-random-u64", randomNumber)),
	)
	insecureSeedPlugin = host.NewPlugin(named("wasi:random/insecure-seed"),
		host.DuringRealloc(host.Func0("insecure-seed", func(ctx context.Context) (seed, error) {
			a, _ := randomNumber(ctx)
			b, _ := randomNumber(ctx)
			return seed{a, b}, nil
		})),
	)
)

// A seed is tuple<u64, u64>.
type seed struct{ A, B uint64 }

// WITTuple says that a seed travels as a tuple.
func (seed) WITTuple() {}

func randomBytes(_ context.Context, n uint64) ([]byte, error) {
	if n > maxRandom {
		return nil, fmt.Errorf("the guest asked for %d random bytes, and can have %d at a time", n, maxRandom)
	}
	b := make([]byte, n)
	_, err := rand.Read(b)
	return b, err
}

func randomNumber(context.Context) (uint64, error) {
	var b [8]byte
	_, err := rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:]), err
}
