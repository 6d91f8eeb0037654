//go:build !unix

package rootfs

import "os"

// inode is the number of a directory's entry, which this system does not tell.
func inode(*os.File, string) uint64 { return 0 }
