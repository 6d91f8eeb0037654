//go:build !unix

package jobs

// syncDir has no counterpart where directories cannot be opened for syncing.
func syncDir(string) error { return nil }
