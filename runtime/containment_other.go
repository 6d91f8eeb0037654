//go:build !linux

package runtime

import "github.com/murmur-capsule/murmur/runtime/internal/containment"

// unwritable is never so: nothing is taken from commands here.
func unwritable(containment.Profile) (owner int, ok bool) { return 0, false }
