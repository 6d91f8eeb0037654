//go:build !linux

package component

import "context"

// withLazyMemory leaves memories as they are: only the scripts that grow them to
// 4 GiB need more.
func withLazyMemory(ctx context.Context) context.Context { return ctx }
