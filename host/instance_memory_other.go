//go:build !linux && !darwin

package host

// mapMemory maps nothing here: the heap will do.
func mapMemory(uint64) []byte { return nil }

func unmapMemory([]byte) {}
