//go:build !wasip1

package looper

import "github.com/murmur-capsule/murmur/capsule/guest"

func next() (guest.Task, bool) { return guest.Task{}, false }

func settle(uint32, string) {}
